"""Compare → gate → conclude, as pure functions: two reports, and the rules that decide over them."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from runevals.records import (
    AgainstComparison,
    Comparison,
    Conclusion,
    GateRules,
    MarkComparison,
    MarkRun,
    Problem,
    RegressionRule,
    RunReport,
    Weakening,
)
from runevals.verdict.compare import compare
from runevals.verdict.conclude import conclude, of_shard
from runevals.verdict.gates import apply_gates
from runevals.verdict.marks import against_mark
from runevals.verdict.tool_paths import tool_paths


class Baseline(Struct, frozen=True, kw_only=True):
    """A base's report and its origin for messages."""

    report: RunReport
    source: str
    fresh: bool = False  # measured just now: a loss against it needs no verification
    older: str | None = None  # the older commit it was measured at, if its results may differ from the base's


def decide(base: RunReport | None, head: RunReport, rules: GateRules | None = None) -> Conclusion:
    """Whether `head` is worse than `base`: comparison, gates and verdict, without files, network or clock.

    Takes the reports of two runs, as `runevals.reports.results_document.read` gives them; with `base` None, there
    is nothing to compare with. A failing verdict stands on the exact p: the base is not run again. The same
    reports give the same conclusion, bit for bit.
    """
    baseline = None if base is None else Baseline(report=base, source="the given base")
    return decision(head, baseline, rules or GateRules())


def decision(
    head: RunReport,
    baseline: Baseline | None,
    rules: GateRules,
    *,
    mark: MarkRun | None = None,
    weakenings: tuple[Weakening, ...] = (),
) -> Conclusion:
    """compare → gate → conclude; `weakenings` are those of settings and lists, outside of the suites."""
    comparison = None
    if baseline is not None:
        comparison = compare(head, baseline.report, baseline.source, rule=rules.regression)
        comparison = with_weakenings(comparison, weakenings)
    return conclusion_of(head, comparison, rules, since_mark(head, mark, rules.regression))


def with_weakenings(comparison: Comparison, weakenings: tuple[Weakening, ...]) -> Comparison:
    """The comparison, with weakenings of settings and of the quarantine list before those of the suites."""
    return replace(comparison, weakenings=(*weakenings, *comparison.weakenings))


def since_mark(head: RunReport, mark: MarkRun | None, rule: RegressionRule) -> MarkComparison | None:
    """The difference to the run of a mark, if there is one."""
    return None if mark is None else against_mark(head, mark, rule)


def conclusion_of(
    report: RunReport,
    comparison: Comparison | None,
    rules: GateRules,
    mark: MarkComparison | None = None,
    against: AgainstComparison | None = None,
) -> Conclusion:
    """gate → conclude; a shard alone decides nothing."""
    if report.run.shard is not None:
        return of_shard(report, report.run.shard)
    if comparison is not None:
        comparison = replace(comparison, tool_paths=tool_paths(comparison.base.cases, report.cases))
    gates = apply_gates(rules, report, comparison, mark, against)
    conclusion = conclude(
        report,
        comparison,
        gates,
        baseline_required=rules.baseline_required,
        on_incomparable=rules.on_incomparable,
        on_inconclusive=rules.on_inconclusive,
    )
    return replace(conclusion, mark=mark, against=against)


def incomplete(conclusion: Conclusion, stopped: Problem, rules: GateRules) -> Conclusion:
    """The same conclusion for a run that was stopped before it was confirmed."""
    run = replace(conclusion.report.run, stopped=stopped)
    report = replace(conclusion.report, run=run, complete=False)
    return conclusion_of(report, conclusion.comparison, rules, conclusion.mark, conclusion.against)
