"""Comparison with a run earlier than the base: many small losses add up to one that is detected."""

from __future__ import annotations

from runevals.lib.record_from import record_from
from runevals.lib.statistics.multiple_testing import holm
from runevals.records import MarkComparison, MarkRun, RegressionRule, RunReport
from runevals.verdict.comparability import judges_differ
from runevals.verdict.parts import metric_test, metrics_of
from runevals.verdict.sides import Sides


def against_mark(head: RunReport, mark: MarkRun, rule: RegressionRule) -> MarkComparison | None:
    """The clearer of pass rate and score, of two sure losses the larger; None if there is no case to compare."""
    sides = Sides.of(head, mark.report)
    pairs = sides.measured
    tests = [(metric, test) for metric in metrics_of(pairs) if (test := metric_test(pairs, metric)) is not None]
    if not tests:
        return None
    corrected = [min(1.0, p * mark.best_of) for p in holm([test.p_value for _, test in tests])]
    earlier = mark.report.run
    tested = [
        (test.drop > 0 and (sides.deterministic or p <= rule.alpha), p, metric, test)
        for p, (metric, test) in zip(corrected, tests, strict=True)
    ]
    sure, p, metric, test = max(tested, key=lambda one: (one[0], one[3].drop if one[0] else -one[1]))
    return record_from(
        MarkComparison,
        test,
        mark=str(mark.mark),
        source=mark.source,
        commit=earlier.commit,
        started_at=earlier.started_at,
        metric=metric,
        p_value=p,
        sure=sure,
        deterministic=sides.deterministic,
        judge_left_out=judges_differ(head, mark.report),
    )
