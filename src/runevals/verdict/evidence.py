"""The units of a case: its outcome, and every check of every turn, with the value of each run of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runevals.records import AttemptReport, CaseReport, Outcome
from runevals.verdict.matching import Key, Pair, is_due, is_judged, share_of
from runevals.verdict.plan import Entrant, Unit, entrant
from runevals.verdict.score import VALUE_OF, without_checks

OUTCOME = ""  # the unit that is the outcome of the whole case


def entrant_of(pair: Pair, *, deterministic: bool = False, doubts_base: bool = False) -> Entrant[Key] | None:
    """The case with the units of it that look lost; None for most cases, of which none does."""
    if pair.unchanged:
        return None
    return entrant(
        pair.key,
        units_of(pair),
        critical=pair.critical,
        deterministic=deterministic and (not pair.judged or _is_lost_without_a_judge(pair)),
        doubts_base=doubts_base,
    )


def units_of(pair: Pair) -> Sequence[Unit]:
    """The outcome of the case, and its checks if these say more."""
    outcome = Unit(name=OUTCOME, base=_outcomes(pair.base), head=_outcomes(pair.head))
    most = max((sum(len(turn.results) for turn in run.turns) for run in pair.base.runs), default=0)
    if not pair.scored and most <= 1:  # the outcome says it
        return [outcome]
    before, now = _by_check(pair.base), _by_check(pair.head)
    if not pair.now.runs and not pair.before.passes:  # each check that passed is missing, not only the outcome
        now = {name: [None] * pair.now.due for name in before}
    return [outcome, *(Unit(name=name, base=before[name], head=now[name]) for name in now if name in before)]


def _is_lost_without_a_judge(pair: Pair) -> bool:
    """Whether it is lost by checks in which no model had a part: of a deterministic target, that is real."""
    plain = Pair.of(*(without_checks(case, is_judged) for case in (pair.base, pair.head)))
    lost = entrant(plain.key, units_of(plain), deterministic=True)
    return lost is not None and not lost.doubtful


def values_of(run: AttemptReport) -> Mapping[str, float | None]:
    """Unit → its value in one run, None if it could not be measured; without those that were not due."""
    if not run.status.measured:
        return {}
    values = {
        f"{turn}.{place} {result.id}": share_of(result)
        for turn, report in enumerate(run.turns)
        for place, result in enumerate(report.results)
        if result.outcome is not Outcome.SKIPPED
    }
    return {OUTCOME: VALUE_OF[run.status], **values}


def title_of(unit: str) -> str:
    """What reports call a check; empty for the outcome of the case."""
    place, _, check = unit.partition(" ")
    turn = int(place.partition(".")[0]) if place else 0
    return f"{check} in turn {turn + 1}" if turn else check


def _outcomes(case: CaseReport) -> list[float | None]:
    return [VALUE_OF.get(run.status) for run in case.runs if is_due(run)]


def _by_check(case: CaseReport) -> Mapping[str, list[float | None]]:
    """Check → its value in each run that was due."""
    values = [values_of(run) for run in case.runs if is_due(run)]
    names = dict.fromkeys(name for of_run in values for name in of_run if name != OUTCOME)
    return {name: [of_run.get(name) for of_run in values] for name in names}
