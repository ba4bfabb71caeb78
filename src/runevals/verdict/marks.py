"""A run against an earlier one than its base: many losses, each too small to block, are one that is seen."""

from __future__ import annotations

from runevals.lib.statistics.multiple_testing import holm
from runevals.records import MarkComparison, MarkRun, RegressionRule, RunReport
from runevals.verdict.comparability import judges_differ
from runevals.verdict.compare import Sides
from runevals.verdict.families import metric_test, metrics_of


def against_mark(head: RunReport, mark: MarkRun, rule: RegressionRule) -> MarkComparison | None:
    """The clearer of pass rate and score; None where no case is as it was then, and measured on both sides."""
    sides = Sides.of(head, mark.report)
    pairs = sides.measured
    found = [(metric, test) for metric in metrics_of(pairs) if (test := metric_test(pairs, metric)) is not None]
    if not found:
        return None
    corrected = [min(1.0, p * mark.best_of) for p in holm([test.p_value for _, test in found])]
    p, (metric, test) = min(zip(corrected, found, strict=True), key=lambda one: one[0])
    earlier = mark.report.run
    deterministic = head.run.target.deterministic and earlier.target.deterministic
    return MarkComparison(
        mark=str(mark.mark),
        source=mark.source,
        commit=earlier.commit,
        started_at=earlier.started_at,
        cases=test.cases,
        metric=metric,
        base_mean=test.base_mean,
        head_mean=test.head_mean,
        interval=test.interval,
        p_value=p,
        sure=test.drop > 0 and (deterministic or p <= rule.alpha),
        deterministic=deterministic,
        judge_left_out=judges_differ(head, mark.report),
    )
