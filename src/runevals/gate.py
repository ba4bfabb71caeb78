"""Gates: what a report and its comparison must fulfil."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from runevals.metrics import COMPARED, in_scope, measure
from runevals.records import (
    CaseReport,
    Comparison,
    ComparisonVerdict,
    Gate,
    GateResult,
    GateState,
    Outcome,
    RunReport,
)
from runevals.settings import Settings
from runevals.wording import plural

CATEGORY_GATES = (("replay", 1.0), ("regression", 0.99), ("redteam", 1.0))
_TOLERANCE = 1e-9  # shares are sums of fractions
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": lambda observed, limit: observed >= limit - _TOLERANCE,
    "<=": lambda observed, limit: observed <= limit + _TOLERANCE,
    ">": operator.gt,
    "<": operator.lt,
    "==": lambda observed, limit: abs(observed - limit) <= _TOLERANCE,
}


def apply_gates(settings: Settings, report: RunReport, comparison: Comparison | None) -> tuple[GateResult, ...]:
    """The settings' gates, and every preset one that applies and is not replaced.

    `fail_on` turns failures of gates it does not name into warnings.
    """
    own = [_own(gate, report, comparison) for gate in settings.gates]
    replaced = {gate.name for gate in settings.gates}
    gates = [*own, *(gate for gate in _gates(settings, report, comparison) if gate.name not in replaced)]
    if settings.fail_on is None:
        return tuple(gates)
    return tuple(_softened(gate, settings.fail_on) for gate in gates)


def measured(report: RunReport, limit: float) -> GateResult:
    """Enough of the cases could be measured; failing it is no verdict on the answers."""
    unmeasured = [case for case in report.cases if case.unmeasured]
    any_measured = any(case.values for case in report.cases)
    share = len(unmeasured) / len(report.cases) if report.cases else 0.0
    state = GateState.PASSED if share <= limit + _TOLERANCE and any_measured else GateState.FAILED
    if not unmeasured:
        reason = "every case was measured" if any_measured else "no case has anything that could be measured"
    else:
        reason = f"{len(unmeasured)} of {len(report.cases)} cases could not be measured"
    return GateResult(name="measured", state=state, reason=reason, observed=share, limit=limit)


def _gates(settings: Settings, report: RunReport, comparison: Comparison | None) -> Iterator[GateResult]:
    if comparison is not None:
        yield _no_regression(comparison)
    for category, limit in CATEGORY_GATES:
        cases = [case for case in report.cases if case.category == category]
        if cases:
            yield _pass_rate(category, cases, limit)
    if settings.min_pass_rate is not None:
        yield _pass_rate("min_pass_rate", report.cases, settings.min_pass_rate)
    yield measured(report, settings.errors_limit)


def _own(gate: Gate, report: RunReport, comparison: Comparison | None) -> GateResult:
    """A gate of the settings: pass rates as the presets' are, other metrics by their number."""
    if gate.metric == "pass_rate" and gate.op == ">=" and (cases := in_scope(report.cases, gate.scope)):
        found = _pass_rate(gate.name, cases, gate.limit)
        return _warned(found) if gate.level == "warn" else found
    observed = measure(gate, report, comparison)
    if observed is None:
        needs_base = gate.metric in COMPARED and comparison is None
        missing = "there is no base" if needs_base else "nothing to measure it on"
        state = GateState.PASSED if gate.on_missing == "pass" else GateState.FAILED
        if needs_base:
            state = GateState.NOT_APPLICABLE
        found = GateResult(name=gate.name, state=state, reason=f"{gate.metric}: {missing}", limit=gate.limit)
    else:
        state = GateState.PASSED if _OPERATORS[gate.op](observed, gate.limit) else GateState.FAILED
        told = f"{gate.metric} is {observed:.4g}, must be {gate.op} {gate.limit:g}"
        found = GateResult(name=gate.name, state=state, reason=told, observed=observed, limit=gate.limit)
    return _warned(found) if gate.level == "warn" else found


def _warned(gate: GateResult) -> GateResult:
    return replace(gate, state=GateState.WARNED) if gate.state is GateState.FAILED else gate


def _softened(gate: GateResult, fail_on: Sequence[str]) -> GateResult:
    if gate.state is not GateState.FAILED or gate.name in fail_on or gate.name == "measured":
        return gate
    return _warned(gate)


def _no_regression(comparison: Comparison) -> GateResult:
    regressed = len(comparison.of_kind("regressed"))
    state = GateState.PASSED
    reason = f"no regression in {comparison.compared} cases"
    match comparison.verdict:
        case ComparisonVerdict.REGRESSION:
            state = GateState.FAILED
            reason = f"{plural(regressed, 'case')} regressed" if regressed else "the scores dropped"
        case ComparisonVerdict.WARNING:
            state, reason = GateState.WARNED, "a drop that may be noise"
        case ComparisonVerdict.INCOMPARABLE:
            state = GateState.NOT_APPLICABLE
            reason = f"only {comparison.shared} of the base's {comparison.base_cases} cases are unchanged"
        case ComparisonVerdict.INCONCLUSIVE:
            state, reason = GateState.NOT_APPLICABLE, "too few values arrived to compare"
        case ComparisonVerdict.NOT_CONFIRMED:
            reason = "not confirmed" if comparison.verification is None else comparison.verification.reason
        case ComparisonVerdict.IMPROVED | ComparisonVerdict.NO_CHANGE:
            pass
    return GateResult(name="no_regression", state=state, reason=reason, observed=comparison.drop)


def _pass_rate(name: str, cases: Sequence[CaseReport], limit: float) -> GateResult:
    """Passed attempts over all but skipped ones. Where errored ones decide, the gate says nothing."""
    attempts = [a for case in cases for a in case.attempts if a.status is not Outcome.SKIPPED]
    passed = sum(a.status is Outcome.PASSED for a in attempts)
    errored = sum(a.status is Outcome.ERRORED for a in attempts)
    if not attempts:
        return GateResult(name=name, state=GateState.NOT_APPLICABLE, reason="nothing to judge", limit=limit)
    observed, at_best = passed / len(attempts), (passed + errored) / len(attempts)
    if observed + _TOLERANCE >= limit:
        state = GateState.PASSED
    elif at_best + _TOLERANCE < limit:
        state = GateState.FAILED
    else:
        state = GateState.NOT_APPLICABLE
    reason = f"{passed} of {len(attempts)} passed"
    if errored:
        reason += f", {errored} could not be measured"
    return GateResult(name=name, state=state, reason=reason, observed=observed, limit=limit)
