"""What a gate can measure on a report and its comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import fsum, lcm
from operator import attrgetter

from msgspec import Struct

from runevals.lib.nullable import if_known, mean, total
from runevals.records import (
    CaseReport,
    CheckResult,
    Comparison,
    Gate,
    Layer,
    MarkComparison,
    Outcome,
    RunReport,
    Scope,
    State,
    TurnReport,
)
from runevals.verdict.matching import match
from runevals.verdict.tool_paths import tool_paths
from runevals.verdict.totals import totals

EVALUATOR = "evaluator:"
_COST = attrgetter("cost_usd")


def in_scope(cases: Iterable[CaseReport], scope: Scope) -> list[CaseReport]:
    """The cases that `scope` names."""
    return [
        case
        for case in cases
        if scope.category in (None, case.category)
        and scope.tag in (None, *case.tags)
        and (scope.suite is None or fnmatchcase(case.suite, scope.suite))
        and (scope.case is None or fnmatchcase(case.key, scope.case))
    ]


class MetricRange(Struct, frozen=True):
    """A metric, and its bounds if everything that errored had the worst or the best result."""

    observed: float
    lowest: float
    highest: float

    @classmethod
    def exactly(cls, observed: float) -> MetricRange:
        """A metric that errors do not touch."""
        return cls(observed, observed, observed)

    @classmethod
    def of_share(cls, observed: float, errored: float, scale: tuple[float, float]) -> MetricRange:
        """A mean over all but the share `errored` of what should count in it."""
        rest = observed * (1 - errored)
        return cls(observed, rest + scale[0] * errored, rest + scale[1] * errored)


class _Sight(Struct, frozen=True):
    """What a gate looks at."""

    cases: Sequence[CaseReport]
    comparison: Comparison | None
    scope: Scope
    evaluator: str

    @property
    def compared(self) -> Comparison:
        assert self.comparison is not None  # noqa: S101 - `measure` looked
        return self.comparison

    @property
    def of_base(self) -> Sequence[CaseReport]:
        return in_scope(self.compared.base.cases, self.scope)


def measure(gate: Gate, report: RunReport, comparison: Comparison | None) -> MetricRange | None:
    """The gate's metric; None if there is nothing to measure it on, or the run does not have it.

    Shares are 0–1, `composite` and `evaluator:<name>` of a judge are on their own scale, `cost_change` is the
    share by which the cost grew.
    """
    kind, colon, evaluator = gate.metric.partition(":")
    sight = _Sight(in_scope(report.cases, gate.scope), comparison, gate.scope, evaluator)
    if not sight.cases or (gate.metric in COMPARED and comparison is None):
        return None
    return _METRICS[kind + colon](sight)


def mark_drop(mark: MarkComparison, cases: Sequence[CaseReport]) -> MetricRange:
    """What was lost since the mark, a share 0–1; 0 where it may be noise. What errored might have passed."""
    observed = mark.drop if mark.sure or mark.drop < 0 else 0.0
    errored = unmeasured_share(cases)
    return MetricRange(observed, observed - errored, observed + errored)


def _evaluator(cases: Sequence[CaseReport], name: str) -> MetricRange | None:
    """Mean of a graded evaluator's own scores, pass rate of another's and of one that gives no scores.

    None if it gives scores on several scales. A graded evaluator's results without a score count as errored.
    """
    weights: Counter[Outcome] = Counter()
    scores: list[tuple[float, int]] = []  # of a judge, with the weight of each
    scales: set[tuple[float, float]] = set()
    for case, weight in zip(cases, _weights([len(case.attempts) for case in cases]), strict=True):
        for result in _results_of([case], name):
            weights[result.outcome] += weight
            for value, scale in _grades(result):
                scores.append((value, weight))
                scales.add(scale)
    done = weights[Outcome.PASSED] + weights[Outcome.FAILED]
    due = done + weights[Outcome.ERRORED]
    if not done or len(scales) > 1:
        return None
    if not scores:
        return MetricRange.of_share(weights[Outcome.PASSED] / done, weights[Outcome.ERRORED] / due, (0.0, 1.0))
    scored = sum(weight for _, weight in scores)
    observed = fsum(weight * value for value, weight in scores) / scored
    return MetricRange.of_share(observed, 1 - scored / due, scales.pop())


def has_several_scales(cases: Sequence[CaseReport], name: str) -> bool:
    """Whether the evaluator's scores cannot be averaged."""
    return len({scale for result in _results_of(cases, name) for _, scale in _grades(result)}) > 1


def _grades(result: CheckResult) -> Iterator[tuple[float, tuple[float, float]]]:
    """The score of a judge, and its scale."""
    low, high = result.scale
    if result.layer is Layer.JUDGE and result.value is not None and high is not None and result.outcome.measured:
        yield result.value, (low, high)


def _results_of(cases: Sequence[CaseReport], name: str) -> list[CheckResult]:
    return [result for result in _results(cases) if name in (result.id, result.evaluator)]


def names_of_checks(cases: Sequence[CaseReport]) -> set[str]:
    """The ids and evaluators of all checks of the cases."""
    return {name for result in _results(cases) for name in (result.id, result.evaluator)}


def passed_share(cases: Sequence[CaseReport]) -> MetricRange | None:
    """Passed runs over all but skipped ones; what errored might have passed. Each case counts the same."""
    passed = errored = due = 0
    for case, weight in zip(cases, _weights([len(case.runs) for case in cases]), strict=True):
        statuses = [attempt.status for attempt in case.runs]
        passed += weight * statuses.count(Outcome.PASSED)
        errored += weight * statuses.count(Outcome.ERRORED)
        due += weight * (len(statuses) - statuses.count(Outcome.SKIPPED))
    return MetricRange(passed / due, passed / due, (passed + errored) / due) if due else None


def _weights(runs: Sequence[int]) -> list[int]:
    """What a run of each case counts, so that all cases count the same: critical ones may have made more runs."""
    numbers = [number or 1 for number in runs]
    every = lcm(*set(numbers))
    return [every // number for number in numbers]


def _results(cases: Iterable[CaseReport]) -> list[CheckResult]:
    return [r for case in cases for attempt in case.attempts for turn in attempt.turns for r in turn.results]


def unmeasured_share(cases: Sequence[CaseReport]) -> float:
    """The share of the cases of which something could not be measured."""
    return sum(case.unmeasured for case in cases) / max(1, len(cases))


def _of_one_run(cases: Sequence[CaseReport], amount: Callable[[TurnReport], float | None]) -> MetricRange | None:
    """What running each case once takes, by the mean of its answered runs; None if unknown.

    How many rounds are made, and which cases are run again, depends on chance. A case that errored in all its runs
    may take as much as the one that took most.
    """
    means: list[float | None] = []
    errored = 0
    for case in cases:
        runs = [turns for each in case.attempts if (turns := [turn for turn in each.turns if turn.error is None])]
        if runs:
            means.append(_of_a_run(runs, amount))
        else:
            errored += case.status is Outcome.ERRORED
    observed = total(means)
    if observed is None:
        return None
    return MetricRange(observed, observed, observed + errored * max(filter(None, means), default=0.0))


def regressions(comparison: Comparison, scope: Scope) -> MetricRange:
    """Cases that passed on the base and fail now, but for those that fresh runs cleared.

    If the whole or a part is lost, these count too: its loss is theirs. A case that is not known to be lost may
    be, and so may one that errored.
    """
    again = {each.key for each in comparison.cases(State.NOT_WORSE) if each.head is not None}
    excluded = set() if comparison.parts(State.WORSE) else again
    unsettled = {each.key for each in comparison.cases(State.NOT_KNOWN) if each.head is not None}
    heads = filter(None, (change.head for change in comparison.of_kind("regressed")))
    keys = {(case.suite, case.key) for case in in_scope(heads, scope)} - excluded
    errored = {(case.suite, case.key) for case in in_scope(_errored_now(comparison), scope)} - excluded
    sure = float(len(keys - unsettled))
    return MetricRange(sure, sure, float(len(keys | errored)))


def _errored_now(comparison: Comparison) -> list[CaseReport]:
    """The cases that passed on the base and could not be measured now."""
    changes = comparison.of_kind("unmeasured")
    passed = (
        change.head for change in changes if change.base is not None and change.base.status is Outcome.PASSED
    )
    return [case for case in filter(None, passed) if case.status is Outcome.ERRORED]


def _new_failures(sight: _Sight) -> MetricRange:
    """Regressed cases, and added ones that fail. What errored might have failed."""
    added = filter(None, (change.head for change in sight.compared.of_kind("added")))
    statuses = [case.status for case in in_scope(added, sight.scope) if not case.quarantined]
    failing, errored = statuses.count(Outcome.FAILED), statuses.count(Outcome.ERRORED)
    lost = regressions(sight.compared, sight.scope)
    return MetricRange(lost.observed + failing, lost.lowest + failing, lost.highest + failing + errored)


def _cost_change(sight: _Sight) -> float | None:
    """How much dearer a run of the cases became that both sides answered, as a share.

    How often each was run is left out, and so is every run without an answer.
    """
    matched = match(sight.of_base, sight.cases).both
    pairs = [(_answered(pair.base), _answered(pair.head)) for pair in matched if pair.same_content]
    answered = [(old, new) for old, new in pairs if old and new]
    before = total(_of_a_run(old, _COST) for old, _ in answered)
    now = total(_of_a_run(new, _COST) for _, new in answered)
    if before == now == 0:  # a target that is free
        return 0.0
    return (now - before) / before if before and now is not None else None


def _answered(case: CaseReport) -> list[Sequence[TurnReport]]:
    """The turns of its runs in which every turn was answered."""
    return [each.turns for each in case.attempts if each.turns and all(turn.error is None for turn in each.turns)]


def _of_a_run(runs: Sequence[Sequence[TurnReport]], amount: Callable[[TurnReport], float | None]) -> float | None:
    """The mean amount of these runs; None if that of any turn is unknown."""
    whole = total(amount(turn) for turns in runs for turn in turns)
    return if_known(lambda known: known / len(runs), whole)


def _weakening(sight: _Sight) -> float:
    """The weakenings of cases in scope; without a scope also those of settings and lists."""
    weakenings = sight.compared.weakenings
    if sight.scope == Scope():
        return float(len(weakenings))
    inside = {(case.suite, case.key) for case in (*sight.cases, *sight.of_base)}
    return float(sum((weakening.suite, weakening.key) in inside for weakening in weakenings))


def _amount(read: Callable[[TurnReport], float | None]) -> _Metric:
    return lambda sight: _of_one_run(sight.cases, read)


def _exact(read: Callable[[_Sight], float | None]) -> _Metric:
    """A number that errors do not touch."""
    return lambda sight: if_known(MetricRange.exactly, read(sight))


def _mean(read: Callable[[_Sight], float | None], scale: tuple[float, float]) -> _Metric:
    """A mean on this scale, of what did not err."""

    def measured(sight: _Sight) -> MetricRange | None:
        observed = read(sight)
        return if_known(lambda share: MetricRange.of_share(share, unmeasured_share(sight.cases), scale), observed)

    return measured


_Metric = Callable[[_Sight], MetricRange | None]
_OF_COMPARISON: Mapping[str, _Metric] = {
    "cost_change": _exact(_cost_change),
    "weakening": _exact(_weakening),
    # How far the tools called are those of the base's runs; None if a side does not report them.
    "same_path_as_base": _mean(
        lambda sight: if_known(attrgetter("f1"), tool_paths(sight.of_base, sight.cases)), (0.0, 1.0)
    ),
    "regressions": lambda sight: regressions(sight.compared, sight.scope),
    "new_failures": _new_failures,
}
_METRICS: Mapping[str, _Metric] = {
    EVALUATOR: lambda sight: _evaluator(sight.cases, sight.evaluator),
    "pass_rate": lambda sight: passed_share(sight.cases),
    "composite": _mean(lambda sight: totals(sight.cases).composite, (1.0, 5.0)),
    "share": _mean(lambda sight: totals(sight.cases).share, (0.0, 1.0)),
    "errors": _exact(lambda sight: unmeasured_share(sight.cases)),
    "latency_p95_s": _exact(lambda sight: totals(sight.cases).latency_p95_s),
    "judge_coverage": _exact(
        lambda sight: mean(one.outcome.measured for one in _results(sight.cases) if one.layer is Layer.JUDGE)
    ),
    "cost_usd": _amount(_COST),
    "tokens": _amount(lambda turn: total((turn.input_tokens, turn.output_tokens))),
    **_OF_COMPARISON,
}
COMPARED = frozenset(_OF_COMPARISON)
