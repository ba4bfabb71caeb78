"""Several targets beside each other: quality, cost and latency of each, and the cases in which they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from msgspec import Struct

from runevals.records import CaseReport, Conclusion, Outcome, Totals


class TargetColumn(Struct, frozen=True, kw_only=True):
    """What one target showed. Latencies are those of its answers."""

    name: str
    conclusion: Conclusion
    totals: Totals
    calls: int  # turns that were sent
    unmeasured: int  # cases
    latency_median_s: float | None


class CaseRow(Struct, frozen=True, kw_only=True):
    """A case in which the targets differ: by target, how many of its measured runs passed."""

    suite: str
    key: str
    runs: Sequence[tuple[int, int] | None]  # (passed, measured); None: the target has no such case


class SideBySide(Struct, frozen=True, kw_only=True):
    """All targets of a run, in their order."""

    columns: Sequence[TargetColumn]
    differing: Sequence[CaseRow]  # the largest differences first
    cases: int


def side_by_side(conclusions: Mapping[str, Conclusion]) -> SideBySide:
    """A column for each target."""
    by_key = [
        {(case.suite, case.key): case for case in conclusion.report.cases} for conclusion in conclusions.values()
    ]
    keys = dict.fromkeys(key for cases in by_key for key in cases)
    rows = [CaseRow(suite=key[0], key=key[1], runs=[_runs(cases.get(key)) for cases in by_key]) for key in keys]
    return SideBySide(
        columns=[_column(name, conclusion) for name, conclusion in conclusions.items()],
        differing=sorted((row for row in rows if _spread(row) > 0), key=_spread, reverse=True),
        cases=len(keys),
    )


def _column(name: str, conclusion: Conclusion) -> TargetColumn:
    report = conclusion.report
    attempts = [attempt for case in report.cases for attempt in case.attempts]
    turns = [turn for attempt in attempts if attempt.status is not Outcome.SKIPPED for turn in attempt.turns]
    latencies = sorted(turn.latency_s for turn in turns if turn.latency_s is not None)
    return TargetColumn(
        name=name,
        conclusion=conclusion,
        totals=report.totals,
        calls=len(turns),
        unmeasured=sum(case.unmeasured for case in report.cases),
        latency_median_s=latencies[ceil(0.5 * len(latencies)) - 1] if latencies else None,
    )


def _runs(case: CaseReport | None) -> tuple[int, int] | None:
    if case is None:
        return None
    statuses = [attempt.status for attempt in case.runs]
    passed = statuses.count(Outcome.PASSED)
    return passed, passed + statuses.count(Outcome.FAILED)


def _spread(row: CaseRow) -> float:
    """The largest difference of the shares that passed; a target that was not measured has none."""
    shares = [passed / measured for passed, measured in filter(None, row.runs) if measured]
    return max(shares) - min(shares) if shares else 0.0
