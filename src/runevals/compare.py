"""Report + baseline → comparison; which cases may be compared, what changed, how sure we are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from runevals.changes import Pair, case_changes, change_of, match, one_sided, weakenings
from runevals.records import (
    CaseReport,
    Comparison,
    ComparisonVerdict,
    Layer,
    ModelIdentity,
    Outcome,
    RunReport,
    Verification,
)
from runevals.score import run_report, totals, without_layer
from runevals.significance import ALPHA, BlockedTest, case_blocked_test, round_alpha

WARN_ALPHA = 0.05
MIN_EFFECT = 0.02
MIN_SHARED = 0.8
MIN_ARRIVED = 0.8
GIVE_UP_FIRST = 0.30  # a first round this far from red ends green; later ones at GIVE_UP_LATER
GIVE_UP_LATER = 0.10
CRITICAL_CATEGORIES = frozenset({"replay", "redteam"})


class Strictness(Enum):
    """How sure a red must be, by what will become of it."""

    FINAL = "exact p at alpha"
    SCREENING = "mid-p at twice alpha: a red will be verified before it blocks"
    VERIFYING = "mid-p at alpha, against a fresh base: what looking early costs is spent already"


def compare(
    head: RunReport, base: RunReport, source: str, strictness: Strictness = Strictness.FINAL
) -> Comparison:
    """`head` against `base`; `source` says in words where the base came from."""
    caveats = tuple(_caveats(head, base))
    if _judges_differ(head, base):
        head, base = _without_judge(head), _without_judge(base)
    matched = match(base.cases, head.cases)
    pairs = [pair for pair in matched.both if pair.base.fingerprint == pair.head.fingerprint]
    edited = [pair for pair in matched.both if pair.base.fingerprint != pair.head.fingerprint]
    deterministic = head.run.target.deterministic and base.run.target.deterministic
    measured = [pair for pair in pairs if pair.base.values and pair.head.values]
    test = _test(measured) if measured else None
    graded = any(attempt.graded for pair in measured for attempt in (*pair.base.attempts, *pair.head.attempts))
    rounds = _rounds(head, pairs, strictness)
    return Comparison(
        base=base,
        source=source,
        verdict=_verdict(len(base.cases), pairs, test, rounds, deterministic=deterministic),
        shared=len(pairs),
        compared=len(measured),
        base_cases=len(base.cases),
        base_totals=totals([pair.base for pair in pairs]),
        head_totals=totals([pair.head for pair in pairs]),
        deterministic=deterministic,
        rounds_done=rounds.done,
        rounds_planned=rounds.planned,
        metric="share" if graded else "pass_rate",
        p_value=None if test is None else test.p_value,
        gain_p_value=None if test is None else test.gain_p_value,
        drop=None if test is None else test.drop,
        base_mean=None if test is None else test.base_mean,
        head_mean=None if test is None else test.head_mean,
        interval=None if test is None else test.interval,
        detectable_drop=None if test is None else test.detectable_drop,
        changes=(
            *case_changes(pairs, deterministic=deterministic),
            *(change_of(pair, "edited") for pair in edited),
            *(one_sided(case, "added") for case in matched.added),
            *(one_sided(case, "removed") for case in matched.removed),
        ),
        weakenings=tuple(weakenings(matched)),
        caveats=caveats,
    )


def needs_verification(comparison: Comparison) -> bool:
    """Whether a red must be seen again against a fresh run of the base: a deterministic one need not."""
    return comparison.verdict is ComparisonVerdict.REGRESSION and not comparison.deterministic


def verified(stored: Comparison, fresh: Comparison) -> Comparison:
    """A red against the stored base, held to a fresh run of it: red again, or not confirmed."""
    if fresh.verdict is ComparisonVerdict.REGRESSION:
        return replace(
            stored,
            verdict=ComparisonVerdict.REGRESSION,
            verification=Verification(state="confirmed", reason=f"confirmed against {fresh.source}"),
        )
    if fresh.verdict in (ComparisonVerdict.INCONCLUSIVE, ComparisonVerdict.INCOMPARABLE):
        return unverified(stored, f"{fresh.source} could not be compared with")
    moved = (stored.base_mean or 0.0) - (fresh.base_mean or 0.0)
    reason = f"the stored base no longer holds (it moved by {-100 * moved:+.1f} points)".replace("-", "−")
    return replace(
        stored,
        verdict=ComparisonVerdict.NOT_CONFIRMED,
        verification=Verification(state="not_confirmed", reason=reason),
    )


def unverified(stored: Comparison, why: str) -> Comparison:
    """A red that could not be verified stands if it is one by the exact p, and says why."""
    if stored.verdict is not ComparisonVerdict.REGRESSION:
        return stored
    return replace(stored, verification=Verification(state="impossible", reason=f"not verified: {why}"))


def _test(pairs: Sequence[Pair], *, errors_as_passes: bool = False) -> BlockedTest:
    base = {index: pair.base.values for index, pair in enumerate(pairs)}
    head = {
        index: _at_best(pair.head) if errors_as_passes else pair.head.values for index, pair in enumerate(pairs)
    }
    return case_blocked_test(base, head)


def _at_best(case: CaseReport) -> tuple[float, ...]:
    """The values, had every attempt that could not be measured passed."""
    asked = [attempt for attempt in case.attempts if attempt.status is not Outcome.SKIPPED]
    return tuple(1.0 if attempt.value is None else attempt.value for attempt in asked)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """How far a run with several repeats has come, and the largest p that is red by now."""

    done: int
    planned: int
    red: float
    mid: bool = False  # the mid-p value decides

    def is_loss(self, test: BlockedTest) -> bool:
        p = test.mid_p_value if self.mid else test.p_value
        return p <= self.red and test.drop >= MIN_EFFECT


def _rounds(head: RunReport, pairs: Sequence[Pair], strictness: Strictness) -> _Rounds:
    done = max((len(pair.head.attempts) for pair in pairs), default=1)
    if strictness is Strictness.VERIFYING:
        return _Rounds(done, done, ALPHA, mid=True)
    of_base = [len(pair.base.values) for pair in pairs if pair.base.values]
    base_repeats = sum(of_base) / len(of_base) if of_base else 1.0
    screening = strictness is Strictness.SCREENING
    alpha = 2 * ALPHA if screening else ALPHA
    red = round_alpha(alpha, base_repeats=base_repeats, done=done, planned=head.run.repeat)
    return _Rounds(done, head.run.repeat, red, mid=screening)


def settled_early(comparison: Comparison) -> bool:
    """Whether a run in rounds may stop here: clearly red, or so far from red that more would not change it.

    A critical case that has failed every attempt so far keeps it going: one attempt is no proof.
    """
    if comparison.verdict is ComparisonVerdict.REGRESSION:
        return True
    if comparison.p_value is None or comparison.verdict in (
        ComparisonVerdict.INCONCLUSIVE,
        ComparisonVerdict.INCOMPARABLE,
    ):
        return False
    regressed = [c for c in comparison.of_kind("regressed") if c.head is not None and is_critical(c.head)]
    return not regressed and comparison.p_value > (GIVE_UP_FIRST if comparison.rounds_done == 1 else GIVE_UP_LATER)


def is_critical(case: CaseReport) -> bool:
    """Marked as critical, or of a category whose cases all are."""
    return case.critical or case.category in CRITICAL_CATEGORIES


def _verdict(
    in_base: int,
    pairs: Sequence[Pair],
    test: BlockedTest | None,
    rounds: _Rounds,
    *,
    deterministic: bool,
) -> ComparisonVerdict:
    if len(pairs) < MIN_SHARED * in_base or not pairs:
        return ComparisonVerdict.INCOMPARABLE
    if deterministic and any(pair.regressed for pair in pairs):
        return ComparisonVerdict.REGRESSION
    if not deterministic and rounds.done >= rounds.planned and any(_critical_loss(pair) for pair in pairs):
        return ComparisonVerdict.REGRESSION
    arrived, planned = _arrived(pair.head for pair in pairs)
    of_base, planned_of_base = _arrived(pair.base for pair in pairs)
    if test is None or arrived < MIN_ARRIVED * planned or of_base < MIN_ARRIVED * planned_of_base:
        return ComparisonVerdict.INCONCLUSIVE
    if deterministic:
        fixed = any(pair.fixed for pair in pairs)
        return ComparisonVerdict.IMPROVED if fixed else ComparisonVerdict.NO_CHANGE
    return _by_test(pairs, test, rounds, complete=arrived == planned)


def _arrived(cases: Iterable[CaseReport]) -> tuple[int, int]:
    """(values there are, values there should be); what was skipped should not."""
    arrived = planned = 0
    for case in cases:
        arrived += len(case.values)
        planned += sum(attempt.status is not Outcome.SKIPPED for attempt in case.attempts)
    return arrived, planned


def _by_test(pairs: Sequence[Pair], test: BlockedTest, rounds: _Rounds, *, complete: bool) -> ComparisonVerdict:
    if rounds.is_loss(test):
        # What errored might have passed: a loss that vanishes then is not known to be one.
        known = [pair for pair in pairs if pair.base.values]
        if complete or rounds.is_loss(_test(known, errors_as_passes=True)):
            return ComparisonVerdict.REGRESSION
        return ComparisonVerdict.INCONCLUSIVE
    if test.p_value <= WARN_ALPHA and test.drop > 0:
        return ComparisonVerdict.WARNING
    return ComparisonVerdict.IMPROVED if test.gain_p_value <= ALPHA else ComparisonVerdict.NO_CHANGE


def _critical_loss(pair: Pair) -> bool:
    """A critical case that never failed on base and fails every attempt on head."""
    if not (is_critical(pair.head) or is_critical(pair.base)):
        return False
    base_passes = pair.base.pass_rate == 1.0 and len(pair.base.values) == len(pair.base.attempts)
    return base_passes and all(attempt.status is Outcome.FAILED for attempt in pair.head.attempts)


def _judges_differ(head: RunReport, base: RunReport) -> bool:
    return _judge_key(head.run.judge) != _judge_key(base.run.judge)


def _judge_key(judge: ModelIdentity | None) -> tuple[str | None, ...] | None:
    return None if judge is None else (judge.type, judge.model, judge.prompt_hash)


def _without_judge(report: RunReport) -> RunReport:
    """`report` as if no judge had been asked."""
    return run_report(report.run, [without_layer(case, Layer.JUDGE) for case in report.cases])


def _caveats(head: RunReport, base: RunReport) -> Iterator[str]:
    if _judges_differ(head, base):
        names = [
            "none" if run.judge is None else run.judge.model or run.judge.type for run in (base.run, head.run)
        ]
        told = (
            f"{names[0]} on base, {names[1]} now" if names[0] != names[1] else f"{names[0]}, with another prompt"
        )
        yield f"judge scores are not comparable and were left out: the judge was {told}"
    same_request = head.run.target.model == base.run.target.model
    if same_request and base.run.target.reported and head.run.target.reported != base.run.target.reported:
        now, before = ", ".join(head.run.target.reported), ", ".join(base.run.target.reported)
        yield f"the provider answers with another model than for the base: {before} then, {now} now"
    if not base.complete:
        yield "the base's run is incomplete"
