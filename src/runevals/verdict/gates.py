"""Gates: what a report and its comparison must fulfil."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from math import ceil
from operator import attrgetter
from statistics import NormalDist

from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.record_from import record_from
from runevals.lib.statistics.chance import binomial_tail
from runevals.lib.statistics.proportion import wilson
from runevals.lib.text.numbers import phrase, plural, short_list
from runevals.lib.text.suggest import did_you_mean
from runevals.records import (
    AgainstComparison,
    CaseReport,
    Comparison,
    Gate,
    GateResult,
    GateRules,
    GateState,
    MarkComparison,
    Outcome,
    RunReport,
    Scope,
    State,
)
from runevals.records.rules import CATEGORY_GATES, REDTEAM, REPLAY
from runevals.records.suite import called
from runevals.verdict.base_labels import labelled_as_on_base
from runevals.verdict.gate_metrics import (
    COMPARED,
    EVALUATOR,
    MetricRange,
    has_several_scales,
    in_scope,
    mark_drop,
    measure,
    names_of_checks,
    passed_share,
    unmeasured_share,
)
from runevals.verdict.headlines import loss, not_known, warning
from runevals.verdict.reasons import MEANINGS
from runevals.verdict.wording import about_drop_bound, about_lift, since_mark


def shown_lift(against: AgainstComparison) -> float | None:
    """The gain that is shown: the lower end of its interval; of deterministic targets the gain itself."""
    if against.state is not None:
        return None
    return against.gain if against.deterministic else against.interval[0]


# Gates about the other side of `against`: the number that decides, how it is to be read, and what that side is.
AGAINST: Mapping[str, tuple[Callable[[AgainstComparison], float | None], Callable[..., str], str]] = {
    "against_drop": (attrgetter("drop_bound"), about_drop_bound, "another target"),
    "lift": (shown_lift, about_lift, "the cases without the skill"),
}
_PRESET = Gate(name="", metric="pass_rate", op=">=", limit=1.0, on_missing="not_applicable")
_BADNESS = {GateState.PASSED: 0, GateState.WARNED: 1, GateState.NOT_APPLICABLE: 2, GateState.FAILED: 3}
_TOLERANCE = 1e-9  # shares are sums of fractions
_WITHOUT_JUDGE = " without a judge: name one with --judge-model MODEL, or write checks that need none"
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": lambda observed, limit: observed >= limit - _TOLERANCE,
    "<=": lambda observed, limit: observed <= limit + _TOLERANCE,
    ">": operator.gt,
    "<": operator.lt,
    "==": lambda observed, limit: abs(observed - limit) <= _TOLERANCE,
}

_WAYS_OUT = {("weakening", GateState.FAILED): "; for settings, `fail_on` of the workflow can leave it out once"}
_COUNTS = "; it counts accepted cases, too: to accept a loss, first merge a change of this gate"
_OF_BASE = "; the base's gate holds until a change of it is merged: leave it out once, by --fail-on or its input"
LEAST_SHOWN = 0.005  # of unchanged suites that fail a gate
_SURE = NormalDist().inv_cdf(0.99)
_BOUNDS: Mapping[str, Callable[[float, int], float]] = {  # of a pass rate, by so many runs
    "point": lambda share, _: share,
    "wilson": lambda share, runs: wilson(share, runs, _SURE)[1],
}
_BY_BOUNDS = {  # whether a gate holds at the bounds of what it measures
    frozenset({True}): GateState.PASSED,
    frozenset({False}): GateState.FAILED,
    frozenset({True, False}): GateState.NOT_APPLICABLE,
}


def apply_gates(
    rules: GateRules,
    report: RunReport,
    comparison: Comparison | None,
    mark: MarkComparison | None = None,
    against: AgainstComparison | None = None,
) -> tuple[GateResult, ...]:
    """The gates of the rules, and every preset one that applies and is not replaced.

    `fail_on` turns failures of gates it does not name into warnings. The base's labels decide the scope.
    """
    if rules.labels_of_base and comparison is not None:
        report, comparison = labelled_as_on_base(report, comparison)
    in_sight = report
    if any(case.quarantined for case in report.cases):  # without any, they need not fit in memory
        in_sight = replace(report, cases=tuple(case for case in report.cases if not case.quarantined))
    results = [_of_settings(gate, in_sight, comparison, mark, against) for gate in rules.gates]
    blocks = [gate.level == "block" and _has_cases(gate, rules, report, comparison) for gate in rules.gates]
    own = [result if block else _warned(result) for result, block in zip(results, blocks, strict=True)]
    replaced = {gate.name for gate in rules.gates}
    gates = [*own, *(gate for gate in _gates(rules, in_sight, comparison) if gate.name not in replaced)]
    blocking = {gate.name for gate in gates} if rules.fail_on is None else {"measured", *rules.fail_on}
    gates = [gate if gate.name in blocking else _warned(gate) for gate in gates]
    advice: dict[State | None, str] = {State.NOT_WORSE: _OF_BASE * rules.labels_of_base, None: ""}
    way_out = advice.get(if_known(attrgetter("state"), comparison), _COUNTS)
    return tuple(replace(one, reason=one.reason + phrase(one.counts_accepted, way_out)) for one in gates)


def _has_cases(gate: Gate, rules: GateRules, report: RunReport, comparison: Comparison | None) -> bool:
    """Whether the base's gate ever had a case in its scope: otherwise a change that mends it could not pass."""
    if comparison is None or not rules.labels_of_base:
        return True
    return any(in_scope(side.cases, gate.scope) for side in (comparison.base, report))


def measured(report: RunReport, limit: float) -> GateResult:
    """Enough of the cases could be measured; its failure says nothing about the answers."""
    unmeasured = [case for case in report.cases if case.unmeasured]
    any_measured, share = any(case.values for case in report.cases), unmeasured_share(report.cases)
    state = GateState.PASSED if share <= limit + _TOLERANCE and any_measured else GateState.FAILED
    reason = "every case was measured"
    if unmeasured:
        reason = _not_measured(unmeasured, len(report.cases))
    elif not any_measured:
        left_out = phrase(report.run.settings.get("no_judge"), _WITHOUT_JUDGE)
        reason = f"no case has anything that could be measured{left_out}"
    return GateResult(name="measured", state=state, reason=reason, observed=share, limit=limit)


def _not_measured(cases: Sequence[CaseReport], of: int) -> str:
    """How many cases have no verdict, and how many failed although they were measured only in part."""
    in_part = sum(case.status is Outcome.FAILED for case in cases)
    if in_part == len(cases):
        return f"{in_part} of {plural(of, 'case')} failed and could be measured only in part"
    also = phrase(in_part, ", {} that failed only in part")
    return f"{len(cases) - in_part} of {plural(of, 'case')} could not be measured{also}"


def _gates(rules: GateRules, in_sight: RunReport, comparison: Comparison | None) -> Iterator[GateResult]:
    if comparison is not None:
        yield _no_regression(in_sight, comparison)
    categories = {case.category for case in in_sight.cases}
    for category, limit in CATEGORY_GATES:
        if category in categories:
            preset = replace(_PRESET, name=category, limit=limit, scope=Scope(category=category))
            gate = _of_groups(preset, in_sight, comparison)
            yield _unless_cleared(gate, in_scope(in_sight.cases, preset.scope), in_sight, comparison)
    if rules.min_pass_rate is not None:
        floor = replace(_PRESET, name="min_pass_rate", limit=rules.min_pass_rate)
        yield _pass_rate(floor, in_sight, in_sight.cases, comparison)
    yield measured(in_sight, rules.errors_limit)


def _unless_cleared(
    gate: GateResult, cases: Sequence[CaseReport], report: RunReport, comparison: Comparison | None
) -> GateResult:
    """The gate on `replay` of a target that varies: it fails by cases that fail two of three runs, uncleared.

    If errors would decide, they count as failures.
    """
    fails = gate.state is GateState.FAILED or gate.undecided
    if not fails or gate.name != REPLAY or report.run.target.deterministic:
        return gate
    kinds = {Outcome.FAILED, Outcome.ERRORED} if gate.undecided else {Outcome.FAILED}
    good = () if comparison is None else comparison.cases(State.NOT_WORSE)
    cleared = {each.key for each in good if each.head is not None and not MEANINGS[each.reason].warns}
    left = [case for case in cases if (case.suite, case.key) not in cleared]
    if any(3 * _passed(case, kinds) <= 1.0 + _TOLERANCE for case in left):
        return gate
    why = "each failed fewer than two of three runs, or passed its fresh runs"
    return replace(gate, state=GateState.WARNED, undecided=False, reason=f"{gate.reason}; {why}")


def _passed(case: CaseReport, others: Container[Outcome]) -> float:
    """The share of its runs that passed, of these and those of these other outcomes."""
    passed = sum(run.status is Outcome.PASSED for run in case.runs)
    return passed / max(1, passed + sum(run.status in others for run in case.runs))


def _of_groups(gate: Gate, report: RunReport, comparison: Comparison | None) -> GateResult:
    """The gate for each group of cases, such as a skill, by itself; all must pass, and the worst is reported.

    Cases without a group, such as those of another suite, are one more.
    """
    groups = sorted({case.group for case in in_scope(report.cases, gate.scope)}, key=lambda name: name or "")
    if len(groups) < 2:
        return _own(gate, report, comparison)
    results = []
    for group in groups:
        cases = tuple(case for case in report.cases if case.group == group)
        result = _own(gate, replace(report, cases=cases), comparison)
        results.append(replace(result, reason=f"{group or 'cases of no skill'}: {result.reason}"))
    worst = max(results, key=lambda one: (_BADNESS[one.state], one.undecided))
    if worst.state is GateState.PASSED:
        return replace(_own(gate, report, comparison), state=GateState.PASSED, undecided=False)
    return worst


def _of_settings(
    gate: Gate,
    report: RunReport,
    comparison: Comparison | None,
    mark: MarkComparison | None,
    against: AgainstComparison | None,
) -> GateResult:
    if gate.metric == "mark_drop":
        return _of_mark(gate, report, mark)
    return _of_against(gate, report, against) if gate.metric in AGAINST else _own(gate, report, comparison)


def _own(gate: Gate, report: RunReport, comparison: Comparison | None) -> GateResult:
    """A gate on this run: pass rates are judged as the presets', other metrics by their number."""
    if gate.metric == "pass_rate" and gate.op == ">=" and (cases := in_scope(report.cases, gate.scope)):
        return _pass_rate(gate, report, cases, comparison)
    measured_range = measure(gate, report, comparison)
    return _missing(gate, report, comparison) if measured_range is None else _by_number(gate, measured_range)


def _of_mark(gate: Gate, report: RunReport, mark: MarkComparison | None) -> GateResult:
    """The loss since the mark; not applicable without one."""
    if mark is None:
        return _result(gate, GateState.NOT_APPLICABLE, "mark_drop: there is no mark to compare with")
    result = _by_number(gate, mark_drop(mark, report.cases))
    return replace(result, reason=f"{result.reason}; {since_mark(mark)}")


def _of_against(gate: Gate, report: RunReport, against: AgainstComparison | None) -> GateResult:
    """How much worse than another target this one may be, or what a skill must be worth.

    Not applicable to results that are compared with neither, and undecided if the other side was not measured.
    """
    bound, about, other = AGAINST[gate.metric]
    observed = if_known(bound, against)
    if against is None or observed is None:
        undecided = gate.metric == "lift" and "against" in report.run.settings and gate.level == "block"
        reason = f"{gate.metric}: it is not compared with {other}"
        return _result(gate, GateState.NOT_APPLICABLE, reason, undecided=undecided)
    result = _by_number(gate, MetricRange.exactly(observed))
    return replace(result, reason=f"{result.reason}; {about(against, holds=result.state is GateState.PASSED)}")


def _result(
    gate: Gate, state: GateState, reason: str, observed: float | None = None, *, undecided: bool = False
) -> GateResult:
    return record_from(GateResult, gate, state=state, reason=reason, observed=observed, undecided=undecided)


def _missing(gate: Gate, report: RunReport, comparison: Comparison | None) -> GateResult:
    """The result without a number: failed, unless there is no base, or the reason is an error or a filter.

    What the measured cases do not report, such as costs, is no error's fault.
    """
    cases = in_scope(report.cases, gate.scope)
    states = {"pass": GateState.PASSED, "not_applicable": GateState.NOT_APPLICABLE}
    is_filtered = not cases and bool(report.run.filters)
    state = states.get("not_applicable" if is_filtered else gate.on_missing, GateState.FAILED)
    missing, undecided = _what_is_missing(gate, report, cases), False
    if gate.metric in COMPARED and comparison is None:
        state, missing = GateState.NOT_APPLICABLE, "there is no base"
    elif gate.metric.startswith(EVALUATOR) and has_several_scales(cases, gate.metric.removeprefix(EVALUATOR)):
        missing = "its scores are on several scales; name one check by its id, or give the gate a scope"
    elif any(case.unmeasured for case in cases) and (
        gate.metric.startswith(EVALUATOR) or not any(case.values for case in cases)
    ):
        state, undecided, missing = GateState.NOT_APPLICABLE, True, "nothing of it could be measured"
    return _result(gate, state, f"{gate.metric}: {missing}", undecided=undecided)


def _what_is_missing(gate: Gate, report: RunReport, cases: Sequence[CaseReport]) -> str:
    """What the gate's scope or metric names and no case has."""
    category, name = gate.scope.category, gate.metric.removeprefix(EVALUATOR)
    if not cases:
        known = {case.category for case in report.cases if case.category is not None}
        hint = did_you_mean(category, sorted(known)) if category is not None and category not in known else ""
        return f"no case is in its scope ({gate.scope}){hint}"
    checks = names_of_checks(cases) if gate.metric.startswith(EVALUATOR) else set()
    if checks and name not in checks:
        return f"no check is called {name}{did_you_mean(name, sorted(checks))}"
    return "nothing to measure it on"


def _by_number(gate: Gate, metric: MetricRange) -> GateResult:
    state = _of_bounds(gate, metric.lowest, metric.highest)
    undecided = state is GateState.NOT_APPLICABLE
    why = phrase(undecided, "; what could not be measured would decide")
    why += _WAYS_OUT.get((gate.metric, state), "")
    reason = f"{gate.metric} is {metric.observed:.4g}, must be {gate.op} {gate.limit:g}{why}"
    return _result(gate, state, reason, metric.observed, undecided=undecided)


def _of_bounds(gate: Gate, *bounds: float) -> GateState:
    """What holds at both bounds of the metric; not applicable if they disagree, so that errored runs decide."""
    return _BY_BOUNDS[frozenset(_OPERATORS[gate.op](bound, gate.limit) for bound in bounds)]


def _fails_unchanged(gate: Gate, comparison: Comparison | None, attempts: int) -> str:
    """How often the gate fails with no change, if so many runs pass as often as the base's: a binomial tail."""
    earlier = () if comparison is None else in_scope(comparison.base.cases, gate.scope)
    statuses = Counter(run.status for case in earlier for run in case.runs)
    passed, failed = statuses[Outcome.PASSED], statuses[Outcome.FAILED]
    rate = 1 - failed / max(1, passed + failed)
    chance = 1 - binomial_tail(ceil(gate.limit * attempts - _TOLERANCE), attempts, rate)
    often = f"; by the base's runs, an unchanged suite fails it {100 * chance:.0f} % of the time"
    advice = phrase(gate.limit < 1, " (`bound: wilson` allows for chance)")
    return f"{often}{advice}" if chance > LEAST_SHOWN else ""


def _warned(gate: GateResult) -> GateResult:
    """The gate, which does not block."""
    state = GateState.WARNED if gate.state is GateState.FAILED else gate.state
    return replace(gate, state=state, undecided=False)


_GATE_STATES = {
    State.WORSE: GateState.FAILED,
    State.NOT_KNOWN: GateState.NOT_APPLICABLE,
    State.NOT_WORSE: GateState.PASSED,
}


def _no_regression(report: RunReport, comparison: Comparison) -> GateResult:
    """The comparison's state as a gate: failed, not applicable if it is not known, or passed, with a warning."""
    state, reason = _GATE_STATES[comparison.state], f"no regression shown in {plural(comparison.compared, 'case')}"
    if comparison.state is State.WORSE:
        reason = loss(report, comparison)
    elif comparison.state is State.NOT_KNOWN:
        open_ = (*comparison.parts(State.NOT_KNOWN), *comparison.cases(State.NOT_KNOWN))
        reason = not_known(open_, report.run)
    elif comparison.compared == 0:
        state = GateState.NOT_APPLICABLE
    elif doubt := warning(comparison):
        state, reason = GateState.WARNED, doubt
    return GateResult(name="no_regression", state=state, reason=reason, observed=comparison.drop)


def _pass_rate(
    gate: Gate, report: RunReport, cases: Sequence[CaseReport], comparison: Comparison | None
) -> GateResult:
    """Passed attempts over all but skipped ones, by case. Undecided if errored ones decide."""
    statuses = Counter(run.status for case in cases for run in case.runs)
    passed, errored = statuses[Outcome.PASSED], statuses[Outcome.ERRORED]
    due = statuses.total() - statuses[Outcome.SKIPPED]
    share = passed_share(cases)
    if share is None:
        return _missing(gate, report, comparison)
    surely, at_best = (_BOUNDS[gate.bound](bound, due) for bound in (share.observed, share.highest))
    state = _of_bounds(gate, surely, at_best)
    undecided = state is GateState.NOT_APPLICABLE
    of_runs, every = passed / due, gate.limit == 1.0
    varies = gate.bound == "point" and not report.run.target.deterministic
    lost = short_list([called(case.key, case.name) for case in cases if case.any_failed])
    sentences = (  # what holds, and what the reason says then
        (True, f"{passed} of {due} passed"),
        (every and state is GateState.FAILED, f" ({lost})"),
        (gate.name == REDTEAM and of_runs < 1, f", attack success rate {100 * (1 - of_runs):.1f} %"),
        (
            abs(share.observed - of_runs) > _TOLERANCE,
            f", {100 * share.observed:.1f} % as each case counts the same",
        ),
        (gate.bound == "wilson", f", at most {100 * surely:.1f} % by the 99 % Wilson bound"),
        (errored > 0, f", {errored} could not be measured"),
        (undecided, " and would decide"),
        (varies, _fails_unchanged(gate, comparison, due)),
    )
    reason = "".join(sentence for holds, sentence in sentences if holds)
    return _result(gate, state, reason, share.observed, undecided=undecided)
