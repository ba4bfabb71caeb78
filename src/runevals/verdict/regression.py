"""Whether the cases of a comparison got worse: the test, the rounds it may look in, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from runevals.lib.statistics.permutation_test import BlockedTest, case_blocked_test, round_alpha
from runevals.records import CaseReport, Comparison, ComparisonVerdict, Outcome, Rule, RunReport
from runevals.verdict.matching import Pair, Side

WARN_ALPHA = 0.05
_ROUNDING = 1e-9  # of a difference of means
MIN_ARRIVED = 0.8
GIVE_UP_FIRST = 0.30  # a first round this far from red ends green; later ones at GIVE_UP_LATER
GIVE_UP_LATER = 0.10
CRITICAL_CATEGORIES = frozenset({"replay", "redteam"})


class Strictness(Enum):
    """How sure a red must be, by what will become of it."""

    FINAL = "exact p at alpha"
    SCREENING = "mid-p at twice alpha: a red will be verified before it blocks"
    VERIFYING = "mid-p at alpha, against a fresh base: what looking early costs is spent already"


@dataclass(frozen=True, slots=True)
class Rounds:
    """How far a run with several repeats has come, and the largest p that is red by now."""

    done: int
    planned: int
    red: float
    rule: Rule
    mid: bool = False  # the mid-p value decides

    def is_loss(self, test: BlockedTest) -> bool:
        p = test.mid_p_value if self.mid else test.p_value
        return p <= self.red and test.drop >= self.rule.min_effect - _ROUNDING


def rounds_of(head: RunReport, pairs: Sequence[Pair], strictness: Strictness, rule: Rule) -> Rounds:
    """How far `head` has come, and how small p must be by now: looking early is paid for."""
    done = max((len(pair.head.attempts) for pair in pairs), default=1)
    if strictness is Strictness.VERIFYING:
        return Rounds(done, done, rule.alpha, rule, mid=True)
    of_base = [len(pair.before.values) for pair in pairs if pair.before.values]
    base_repeats = sum(of_base) / len(of_base) if of_base else 1.0
    screening = strictness is Strictness.SCREENING
    alpha = 2 * rule.alpha if screening else rule.alpha
    red = round_alpha(alpha, base_repeats=base_repeats, done=done, planned=head.run.repeat)
    return Rounds(done, head.run.repeat, red, rule, mid=screening)


def verdict_of(
    pairs: Sequence[Pair],
    test: BlockedTest | None,
    rounds: Rounds,
    *,
    deterministic: bool,
) -> ComparisonVerdict:
    """What the pairs say; unknown where what could not be measured might decide."""
    if deterministic and any(pair.regressed for pair in pairs):
        return ComparisonVerdict.REGRESSION
    if not deterministic and rounds.done >= rounds.planned and any(is_critical_loss(pair) for pair in pairs):
        return ComparisonVerdict.REGRESSION
    if any(_might_be_lost(pair, surely_red=deterministic) for pair in pairs):
        return ComparisonVerdict.INCONCLUSIVE
    arrived, of_base = _arrived([pair.now for pair in pairs]), _arrived([pair.before for pair in pairs])
    if test is None or min(arrived, of_base) < MIN_ARRIVED:
        return ComparisonVerdict.INCONCLUSIVE
    if deterministic:
        fixed = any(pair.fixed for pair in pairs)
        return ComparisonVerdict.IMPROVED if fixed else ComparisonVerdict.NO_CHANGE
    return _by_test(pairs, test, rounds, complete=arrived == 1.0)


def _arrived(sides: Sequence[Side]) -> float:
    """The share of values that there are, of those that should be; what was skipped should not."""
    due = sum(side.due for side in sides)
    return sum(len(side.values) for side in sides) / due if due else 1.0


def _by_test(pairs: Sequence[Pair], test: BlockedTest, rounds: Rounds, *, complete: bool) -> ComparisonVerdict:
    is_loss = rounds.is_loss(test)
    if not complete:
        # What errored might have passed, or failed: where that would decide, nothing is known.
        known = [pair for pair in pairs if pair.before.values]
        worst, best = (rounds.is_loss(value_test(known, errors_as=value)) for value in (0.0, 1.0))
        if worst and not best:
            return ComparisonVerdict.INCONCLUSIVE
    if is_loss:
        return ComparisonVerdict.REGRESSION
    if test.p_value <= WARN_ALPHA and test.drop > 0:
        return ComparisonVerdict.WARNING
    improved = test.gain_p_value <= rounds.rule.alpha and -test.drop >= rounds.rule.min_effect - _ROUNDING
    return ComparisonVerdict.IMPROVED if improved else ComparisonVerdict.NO_CHANGE


def is_critical_loss(pair: Pair) -> bool:
    """A critical case that never failed on base and fails every attempt on head."""
    if not (_is_critical(pair.head) or _is_critical(pair.base)):
        return False
    base_passes = pair.base.pass_rate == 1.0 and len(pair.before.values) == len(pair.base.attempts)
    return base_passes and all(attempt.status is Outcome.FAILED for attempt in pair.head.attempts)


def _might_be_lost(pair: Pair, *, surely_red: bool) -> bool:
    """A case that never failed on base, and whose errors hide whether it is lost; one loss would be red."""
    statuses = {attempt.status for attempt in pair.head.attempts}
    if Outcome.ERRORED not in statuses or pair.base.pass_rate != 1.0:
        return False
    critical = _is_critical(pair.head) or _is_critical(pair.base)
    return surely_red or (critical and Outcome.PASSED not in statuses)


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
    regressed = [c for c in comparison.of_kind("regressed") if c.head is not None and _is_critical(c.head)]
    return not regressed and comparison.p_value > (GIVE_UP_FIRST if comparison.rounds_done == 1 else GIVE_UP_LATER)


def value_test(pairs: Sequence[Pair], errors_as: float | None = None) -> BlockedTest:
    """The test on the pairs' values; with `errors_as`, had every run that could not be measured come out so."""
    base = {index: pair.before.values for index, pair in enumerate(pairs)}
    head = {
        index: pair.now.values if errors_as is None else _completed(pair.head, errors_as)
        for index, pair in enumerate(pairs)
    }
    return case_blocked_test(base, head)


def _completed(case: CaseReport, value: float) -> tuple[float, ...]:
    asked = [attempt for attempt in case.attempts if attempt.status is not Outcome.SKIPPED]
    return tuple(value if attempt.value is None else attempt.value for attempt in asked)


def _is_critical(case: CaseReport) -> bool:
    """Marked as critical, or of a category whose cases all are."""
    return case.critical or case.category in CRITICAL_CATEGORIES
