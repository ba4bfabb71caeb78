"""Report, comparison and gates → the one verdict."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.lib.text.numbers import p_value, plural
from runevals.records import (
    Comparison,
    ComparisonVerdict,
    Conclusion,
    FinalVerdict,
    GateResult,
    GateState,
    Outcome,
    Problem,
    RunReport,
    ShardInfo,
)
from runevals.records.errors import GATE_FAILED, INTERRUPTED, MEASURED_GREEN, WORLD_REFUSED
from runevals.verdict.wording import error_kinds

_NOTABLE_DROP = 0.05  # nobody would call as much "no regression", however few the runs


def conclude(
    report: RunReport,
    comparison: Comparison | None,
    gates: Sequence[GateResult],
    *,
    baseline_required: bool = False,
    on_incomparable: str = "unmeasured",
) -> Conclusion:
    """A run that ended early → unmeasured; a failed gate → failed; else anything unmeasured → that; else passed.

    With `on_incomparable` "pass", a base that cannot be compared with only informs.
    """
    incomparable = comparison is not None and comparison.verdict is ComparisonVerdict.INCOMPARABLE
    binding = None if incomparable and on_incomparable == "pass" else comparison
    required = baseline_required and comparison is None
    verdict = _verdict(report, comparison, binding, gates, baseline_required=required)
    return Conclusion(report=report, comparison=comparison, gates=tuple(gates), verdict=verdict)


def of_shard(report: RunReport, shard: ShardInfo) -> Conclusion:
    """No gate looks at a part of the cases; it ends unmeasured only where no answer came at all."""
    named = f"Shard {shard.part} of {shard.of}"
    if report.run.stopped is not None:
        verdict = _incomplete(report, report.run.stopped)
    elif report.cases and all(case.status is Outcome.ERRORED for case in report.cases):
        headline = f"{named}: not measured – {error_kinds(report)}"
        verdict = FinalVerdict(outcome="unmeasured", headline=headline, exit_code=WORLD_REFUSED)
    else:
        headline = f"{named}: {_passing(report)} – the merge of all shards decides"
        verdict = FinalVerdict(outcome="skipped", headline=headline, exit_code=MEASURED_GREEN)
    return Conclusion(report=report, comparison=None, gates=(), verdict=verdict)


def _verdict(
    report: RunReport,
    comparison: Comparison | None,
    binding: Comparison | None,
    gates: Sequence[GateResult],
    *,
    baseline_required: bool,
) -> FinalVerdict:
    if report.run.stopped is not None:
        return _incomplete(report, report.run.stopped)
    failed = [gate for gate in gates if gate.state is GateState.FAILED and gate.name != "measured"]
    if failed:
        return FinalVerdict(outcome="failed", headline=_red(comparison, failed), exit_code=GATE_FAILED)
    unmeasured = _unmeasured(report, binding, gates, baseline_required=baseline_required)
    if unmeasured is not None:
        headline = f"Not measured – {unmeasured}"
        return FinalVerdict(outcome="unmeasured", headline=headline, exit_code=WORLD_REFUSED)
    return FinalVerdict(outcome="passed", headline=_green(report, comparison), exit_code=MEASURED_GREEN)


def _incomplete(report: RunReport, stopped: Problem) -> FinalVerdict:
    """What a run that ended early says: nothing of the whole."""
    measured = sum(case.pass_rate is not None for case in report.cases)
    of = plural(len(report.cases), "case")
    return FinalVerdict(
        outcome="unmeasured",
        headline=f"Incomplete – {stopped.message}; {measured} of {of} were measured",
        exit_code=INTERRUPTED if stopped.code == "interrupted" else WORLD_REFUSED,
    )


def _red(comparison: Comparison | None, failed: Sequence[GateResult]) -> str:
    if comparison is not None and failed[0].name == "no_regression":
        return _loss(comparison)
    gate = failed[0]
    of_cases = gate.limit is not None and gate.metric == "pass_rate"
    limit = f" (at least {100 * (gate.limit or 0):g} % must)" if of_cases else ""
    return f"The gate {gate.name} failed: {gate.reason}{limit}"


def _loss(comparison: Comparison) -> str:
    """What was lost, and how sure that is where p said so."""
    regressed = len(comparison.of_kind("regressed"))
    what = f"{regressed} of {plural(comparison.compared, 'case')} regressed"
    if comparison.deterministic or comparison.drop is None or comparison.p_value is None:
        return what
    if comparison.critical_lost and comparison.verdict is ComparisonVerdict.REGRESSION:
        lost = ", ".join(key[:60] for key in comparison.critical_lost[:3])
        word = "A critical case is" if len(comparison.critical_lost) == 1 else "Critical cases are"
        return f"{word} lost: {lost} – {what}"
    if not regressed:
        name = "pass rate" if comparison.metric == "pass_rate" else "score"
        what = f"The {name} of {plural(comparison.compared, 'case')} dropped by {100 * comparison.drop:.1f} points"
    return f"{what}, unlikely to be noise ({p_value(comparison.p_value)})"


def _unmeasured(
    report: RunReport,
    comparison: Comparison | None,
    gates: Sequence[GateResult],
    *,
    baseline_required: bool,
) -> str | None:
    for gate in gates:
        if gate.name == "measured" and gate.state is GateState.FAILED:
            kinds = error_kinds(report)
            return gate.reason + (f" ({kinds})" if kinds else "")
    if comparison is None:
        return "there is no baseline, and the settings require one" if baseline_required else None
    if comparison.verdict is ComparisonVerdict.INCOMPARABLE:
        of = comparison.base_cases
        return f"only {comparison.shared} of the base's {of} cases are unchanged, too few to compare"
    if comparison.verdict is ComparisonVerdict.INCONCLUSIVE:
        return "too few values arrived to compare with the base"
    return None


def _green(report: RunReport, comparison: Comparison | None) -> str:
    if comparison is None:
        return f"{_passing(report)} – nothing to compare with yet"
    if comparison.verdict is ComparisonVerdict.WARNING:
        return f"No clear regression in {plural(comparison.compared, 'case')}, but the drop may be real"
    if comparison.verdict is ComparisonVerdict.REGRESSION:
        return f"{_loss(comparison)} – but no gate that may fail the run says so"
    if comparison.verdict is ComparisonVerdict.NOT_CONFIRMED and comparison.verification is not None:
        return f"No regression – not confirmed: {comparison.verification.reason}"
    fixed = len(comparison.of_kind("fixed"))
    if comparison.verdict is ComparisonVerdict.IMPROVED and fixed:
        regressed = len(comparison.of_kind("regressed"))
        return f"Improved – {plural(fixed, 'case')} fixed, {regressed or 'none'} regressed"
    if comparison.verdict is ComparisonVerdict.IMPROVED:
        return f"Improved – the scores of {plural(comparison.compared, 'case')} rose"
    return _too_few(comparison) or f"No regression in {plural(comparison.compared, 'case')}"


def _too_few(comparison: Comparison) -> str | None:
    """What was lost where chance explains it only because there are so few runs; None where little was."""
    regressed, drop, p = len(comparison.of_kind("regressed")), comparison.drop, comparison.p_value
    if comparison.deterministic or not regressed or drop is None or p is None or drop < _NOTABLE_DROP:
        return None
    of = plural(comparison.compared, "case")
    return f"Too few runs to tell – {regressed} of {of} failed that passed on the base ({p_value(p)})"


def _passing(report: RunReport) -> str:
    totals = report.totals
    skipped = f", {totals.skipped} skipped" if totals.skipped else ""
    of = totals.cases - totals.skipped
    return f"{totals.passed} of {plural(of, 'case')} {'passes' if of == 1 else 'pass'}{skipped}"
