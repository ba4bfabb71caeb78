"""Report, comparison and gates → the one verdict."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.lib.text.numbers import plural
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
from runevals.records.errors import COULD_NOT_MEASURE, GATE_FAILED, INTERRUPTED, PASSED
from runevals.verdict.headlines import inconclusive, loss, no_loss, small
from runevals.verdict.wording import error_kinds, is_ungated


def conclude(
    report: RunReport,
    comparison: Comparison | None,
    gates: Sequence[GateResult],
    *,
    baseline_required: bool = False,
    on_incomparable: str = "unmeasured",
    on_inconclusive: str = "pass",
) -> Conclusion:
    """An interrupted run → unmeasured; a failed gate → failed; else anything unmeasured → unmeasured; else passed.

    A gate on errors that fails, and one that errors would decide, is unmeasured.
    A run that a limit or its target ended is unmeasured, too, unless a loss was confirmed before.
    With `on_incomparable` "pass", a base that cannot be compared with only informs; with `on_inconclusive` "fail",
    a large drop that may be noise is not a pass. A single case that may be lost never passes.
    """
    incomparable = comparison is not None and comparison.verdict is ComparisonVerdict.INCOMPARABLE
    binding = None if incomparable and on_incomparable == "pass" else comparison
    required = baseline_required and comparison is None
    verdict = _verdict(
        report, comparison, binding, gates, baseline_required=required, on_inconclusive=on_inconclusive
    )
    return Conclusion(report=report, comparison=comparison, gates=tuple(gates), verdict=verdict)


def of_shard(report: RunReport, shard: ShardInfo) -> Conclusion:
    """A shard is not gated; it is unmeasured only if it has no answer at all."""
    name = f"Shard {shard.part} of {shard.of}"
    if report.run.stopped is not None:
        verdict = _incomplete(report, report.run.stopped)
    elif report.cases and all(case.status is Outcome.ERRORED for case in report.cases):
        headline = f"{name}: not measured – {error_kinds(report)}"
        verdict = FinalVerdict(outcome="unmeasured", headline=headline, exit_code=COULD_NOT_MEASURE)
    else:
        headline = f"{name}: {_passing(report)} – the merge of all shards decides"
        verdict = FinalVerdict(outcome="skipped", headline=headline, exit_code=PASSED)
    return Conclusion(report=report, comparison=None, gates=(), verdict=verdict)


def _verdict(
    report: RunReport,
    comparison: Comparison | None,
    binding: Comparison | None,
    gates: Sequence[GateResult],
    *,
    baseline_required: bool,
    on_inconclusive: str,
) -> FinalVerdict:
    failed = [gate for gate in gates if gate.state is GateState.FAILED and not gate.unmeasured]
    if (stopped := report.run.stopped) is not None:
        fails = stopped.code != "interrupted" and any(gate.name == "no_regression" for gate in failed)
        if comparison is None or not fails or not _is_confirmed(report, comparison):
            return _incomplete(report, stopped)
        headline = f"{loss(comparison)} – and the run is incomplete: {stopped.message}"
        return FinalVerdict(outcome="failed", headline=headline, exit_code=GATE_FAILED)
    if failed:
        return FinalVerdict(outcome="failed", headline=_failed(comparison, failed), exit_code=GATE_FAILED)
    unmeasured = _unmeasured(report, binding, gates, baseline_required=baseline_required)
    if unmeasured is None and binding is not None and _blocks(binding, on_inconclusive):
        return FinalVerdict(outcome="unmeasured", headline=inconclusive(binding), exit_code=COULD_NOT_MEASURE)
    if unmeasured is not None:
        headline = f"Not measured – {unmeasured}"
        return FinalVerdict(outcome="unmeasured", headline=headline, exit_code=COULD_NOT_MEASURE)
    headline = _ungated(report) if is_ungated(report, comparison, gates) else _passed(report, comparison)
    return FinalVerdict(outcome="passed", headline=headline, exit_code=PASSED)


def _blocks(comparison: Comparison, on_inconclusive: str) -> bool:
    """Whether an inconclusive comparison keeps the run from passing."""
    if comparison.verdict is not ComparisonVerdict.INCONCLUSIVE:
        return False
    return comparison.inconclusive_by != "families" or on_inconclusive == "fail"


def _is_confirmed(report: RunReport, comparison: Comparison) -> bool:
    """Whether fresh runs confirmed a loss, or a critical case was removed: more runs would not change that.

    Results of another tool do not have the cases that it had not reached: these may not be removed.
    """
    verified = comparison.verification is not None and comparison.verification.state == "confirmed"
    cases = any(suspect.state == "confirmed" for suspect in comparison.suspects)
    return verified or cases or (bool(comparison.critical_lost) and not report.run.of_tool)


def _incomplete(report: RunReport, stopped: Problem) -> FinalVerdict:
    """The verdict of a run that was stopped: unmeasured."""
    measured = sum(case.pass_rate is not None for case in report.cases)
    of, verb = plural(len(report.cases), "case"), "was" if len(report.cases) == 1 else "were"
    return FinalVerdict(
        outcome="unmeasured",
        headline=f"Incomplete – {stopped.message}; {measured} of {of} {verb} measured",
        exit_code=INTERRUPTED if stopped.code == "interrupted" else COULD_NOT_MEASURE,
    )


def _failed(comparison: Comparison | None, failed: Sequence[GateResult]) -> str:
    if comparison is not None and failed[0].name == "no_regression" and failed[0].metric is None:
        return loss(comparison)
    gate = failed[0]
    of_cases = gate.limit is not None and gate.metric == "pass_rate"
    limit = f" (at least {100 * (gate.limit or 0):g} % must)" if of_cases else ""
    return f"The gate {gate.name} failed: {gate.reason}{limit}"


def _unmeasured(
    report: RunReport,
    comparison: Comparison | None,
    gates: Sequence[GateResult],
    *,
    baseline_required: bool,
) -> str | None:
    unmeasured = [gate for gate in gates if gate.unmeasured]
    if unmeasured:
        gate = min(unmeasured, key=lambda gate: gate.name != "measured")
        kinds = error_kinds(report)
        of_gate = "" if gate.name == "measured" else f"the gate {gate.name}: "
        return f"{of_gate}{gate.reason}" + (f" ({kinds})" if kinds else "")
    if comparison is None:
        return "there is no baseline, and the settings require one" if baseline_required else None
    if comparison.verdict is ComparisonVerdict.INCOMPARABLE:
        return comparison.why
    return None


def _passed(report: RunReport, comparison: Comparison | None) -> str:
    if comparison is None:
        return f"{_passing(report)} – nothing to compare with yet"
    match comparison.verdict:
        case ComparisonVerdict.SMALL:
            return small(comparison)
        case ComparisonVerdict.INCONCLUSIVE:
            return inconclusive(comparison)
        case ComparisonVerdict.REGRESSION:
            return f"{loss(comparison)} – but no gate that may fail the run says so"
        case ComparisonVerdict.NOT_CONFIRMED if comparison.verification is not None:
            return f"Not confirmed – {comparison.verification.reason}"
        case ComparisonVerdict.INCOMPARABLE:
            return f"Not compared – {comparison.why}, and the settings let that pass"
        case _:
            return no_loss(comparison)


def _ungated(report: RunReport) -> str:
    """The headline of a run in which nothing passes, and that passes only because no gate applies."""
    return f"{_passing(report)}; no gate looked at this (no base, no min_pass_rate)"


def _passing(report: RunReport) -> str:
    totals = report.totals
    skipped = f", {totals.skipped} skipped" if totals.skipped else ""
    of = totals.cases - totals.skipped
    return f"{totals.passed} of {plural(of, 'case')} {'passes' if of == 1 else 'pass'}{skipped}"
