"""Several targets beside each other: quality, cost and latency of each, and the cases in which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from msgspec import Struct

from runevals.lib.statistics.agreement import Estimate
from runevals.lib.statistics.proportion import share_of_groups
from runevals.records import CaseReport, CauseKind, Causes, Change, Conclusion, Outcome, RunReport
from runevals.verdict.against import HALF, lost_runs
from runevals.verdict.causes import causes_by_kind
from runevals.verdict.matching import Key, change_of
from runevals.verdict.sides import Sides


class TargetColumn(Struct, frozen=True, kw_only=True):
    """What one target showed. Latencies are those of its answers."""

    name: str
    conclusion: Conclusion
    rate: Estimate  # of runs that passed
    calls: int  # turns that were sent
    unmeasured: int  # cases
    latency_median_s: float | None


def columns_of(conclusions: Mapping[str, Conclusion]) -> Sequence[TargetColumn]:
    """A column for each target, in their order."""
    return [_column(name, conclusion) for name, conclusion in conclusions.items()]


def _column(name: str, conclusion: Conclusion) -> TargetColumn:
    report = conclusion.report
    attempts = [attempt for case in report.cases for attempt in case.attempts]
    turns = [turn for attempt in attempts if attempt.status is not Outcome.SKIPPED for turn in attempt.turns]
    latencies = sorted(turn.latency_s for turn in turns if turn.latency_s is not None)
    return TargetColumn(
        name=name,
        conclusion=conclusion,
        rate=share_of_groups([passed_of(case) for case in report.cases]),
        calls=len(turns),
        unmeasured=sum(case.unmeasured for case in report.cases),
        latency_median_s=latencies[ceil(0.5 * len(latencies)) - 1] if latencies else None,
    )


def passed_of(case: CaseReport) -> tuple[int, int]:
    """How many of its measured runs passed."""
    statuses = [attempt.status for attempt in case.runs]
    passed = statuses.count(Outcome.PASSED)
    return passed, passed + statuses.count(Outcome.FAILED)


def spread(sides: Sequence[CaseReport | None]) -> float:
    """The largest difference of the shares that passed; a target that was not measured has none."""
    shares = [passed / measured for passed, measured in map(passed_of, filter(None, sides)) if measured]
    return max(shares) - min(shares) if shares else 0.0


def differences(report: RunReport, other: RunReport) -> Mapping[Key, Change]:
    """The cases that lose half of their runs and more against another target, and those that win as many."""
    pairs = {pair.key: pair for pair in Sides.of(report, other).measured}
    lost = {key: lost_runs(pair) for key, pair in pairs.items()}
    return {
        key: change_of(pair, "regressed" if lost[key] > 0 else "fixed")
        for key, pair in pairs.items()
        if abs(lost[key]) >= HALF
    }


def causes_beside(report: RunReport, changes: Mapping[Key, Change]) -> tuple[Causes, ...]:
    """The groups of a target beside another; `changes` are the differences."""
    return causes_by_kind(report, changes, _kinds)


def _kinds(case: CaseReport, change: Change | None) -> Iterator[CauseKind]:
    if case.unmeasured:
        yield "unmeasured"
    if change is not None:
        yield "lost" if change.change == "regressed" else "better"
    elif case.status is Outcome.FAILED:
        yield "failing"
