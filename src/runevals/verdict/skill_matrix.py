"""The trigger queries of several skills: which skills were loaded for which, on the base and now."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from runevals.records import CaseReport, CheckResult, Comparison, RunReport
from runevals.records.conclusion import SkillMatrix, SkillUse
from runevals.verdict.matching import match

EVALUATOR = "skill_triggered"
IDS = (EVALUATOR, "should_trigger")  # with which the ids of its checks begin
Skills = tuple[str, ...]
Counts = Counter[tuple[Skills, Skills]]


class Confusion(Struct, frozen=True):
    """Queries for some skills for which others are loaded; shares are of the runs of these queries."""

    asks_for: Skills
    loads: Skills
    head_share: float
    base_share: float | None


def skill_matrix(report: RunReport, comparison: Comparison | None) -> SkillMatrix | None:
    """None if the queries are for fewer than two skills. Of a base, the cases of the same content count."""
    if not any(name.startswith(IDS) for name in report.by_evaluator):
        return None  # without reading any answer
    pairs = [] if comparison is None else match(comparison.base.cases, report.cases).both
    both = [pair for pair in pairs if pair.same_content and _is_query(pair.base) and _is_query(pair.head)]
    heads = [pair.head for pair in both] or [case for case in report.cases if _is_query(case)]
    skills = _skills_of_prompts(heads)
    if len({skill for names in skills.values() for skill in names}) < 2:
        return None
    now, before = _counts(heads, skills), _counts([pair.base for pair in both], skills)
    uses = sorted(now | before, key=lambda use: (not use[0], use))  # queries for no skill last
    return SkillMatrix(
        cases=len(heads),
        uses=tuple(
            SkillUse(asks_for=use[0], loads=use[1], head_runs=now[use], base_runs=before[use] if both else None)
            for use in uses
        ),
    )


def confusions(matrix: SkillMatrix) -> list[Confusion]:
    """The pairs that are confused in more runs than on the base, or at all without one; the most first."""
    heads, bases = Counter[Skills](), Counter[Skills]()
    for use in matrix.uses:
        heads[use.asks_for] += use.head_runs
        bases[use.asks_for] += use.base_runs or 0
    every = [
        Confusion(
            use.asks_for,
            use.loads,
            use.head_runs / max(1, heads[use.asks_for]),
            None if use.base_runs is None else use.base_runs / max(1, bases[use.asks_for]),
        )
        for use in matrix.uses
        if use.asks_for != use.loads
    ]
    more = [one for one in every if one.head_share > (one.base_share or 0.0)]
    return sorted(more, key=lambda one: (one.base_share or 0.0) - one.head_share)


def _is_query(case: CaseReport) -> bool:
    return any(True for _ in _triggers(case))


def _triggers(case: CaseReport) -> Iterator[tuple[int, str, CheckResult]]:
    """Each check whether a skill was loaded that was measured, with its run and prompt."""
    for attempt in case.runs:
        for turn in attempt.turns:
            for result in turn.results:
                if result.evaluator == EVALUATOR and "loads" in result.details:
                    yield attempt.attempt, turn.prompt, result


def _skills_of_prompts(cases: Sequence[CaseReport]) -> Mapping[str, Skills]:
    """The skills that each prompt is for: a near miss of one skill may be a query for another."""
    skills: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        for _, prompt, result in _triggers(case):
            is_for = bool(result.details.get("should_trigger")) is not result.negated
            skills[prompt].update([str(result.details.get("skill"))] * is_for)
    return {prompt: tuple(sorted(names)) for prompt, names in skills.items()}


def _counts(cases: Sequence[CaseReport], skills: Mapping[str, Skills]) -> Counts:
    """The runs of turns by the skills that their prompt is for, and those loaded: of a near miss, its own."""
    counts: Counts = Counter()
    for case in cases:
        loads: dict[tuple[int, str], set[str]] = defaultdict(set)
        for run, prompt, result in _triggers(case):
            names = result.details["loads"]
            some = set(map(str, names)) if isinstance(names, list | tuple) else set()
            loads[run, prompt] |= some if skills[prompt] else some & {str(result.details.get("skill"))}
        counts.update((skills[prompt], tuple(sorted(names))) for (_, prompt), names in loads.items())
    return counts
