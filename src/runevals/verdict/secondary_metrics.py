"""The metrics beside the one that gates: tested one by one, corrected together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import fsum
from operator import attrgetter
from statistics import fmean

from msgspec.structs import replace

from runevals.lib.nullable import grouped
from runevals.lib.record_from import record_from
from runevals.lib.statistics.multiple_testing import holm
from runevals.lib.statistics.permutation_test import case_blocked_test
from runevals.lib.statistics.signed_rank import signed_rank_test
from runevals.records import AttemptReport, CaseReport, MetricChange, MetricName, MetricUnit
from runevals.verdict.matching import Pair
from runevals.verdict.score import VALUE_OF

Values = Mapping[int, Sequence[float]]
Means = Mapping[int, float]


def metric_changes(
    pairs: Sequence[Pair], evaluators: Collection[str], *, beside: MetricName | None
) -> tuple[MetricChange, ...]:
    """One entry a metric: `beside` the one that the comparison's numbers are of, each evaluator's scores, and what
    the target's answers took, in seconds and in dollars.

    Of one evaluator that only passes or fails, the pass rate says all. `holm_p` is corrected over all of them.
    """
    before, now = _Runs([pair.base for pair in pairs]), _Runs([pair.head for pair in pairs])
    tested = [_tested(name, base, head) for name, base, head in _scores(before, now, evaluators, beside)]
    tested.append(_tested_by_ranks("latency", "seconds", before.seconds(), now.seconds()))
    tested.append(_tested_by_ranks("cost", "usd", before.dollars(), now.dollars()))
    changes = sorted(filter(None, tested), key=lambda change: (change.p_value, change.name))
    corrected = holm([change.p_value for change in changes])
    return tuple(replace(change, holm_p=p) for change, p in zip(changes, corrected, strict=True))


def costs(cases: Sequence[CaseReport]) -> Means:
    """Place → what a run of the case cost on average in dollars, without those that do not say it."""
    return _Runs(cases).dollars()


class _Runs:
    """All runs of one side, read in one go: there may be a hundred thousand."""

    def __init__(self, cases: Sequence[CaseReport]) -> None:
        self.cases = cases
        runs = [case.runs for case in cases]
        attempts = [attempt for of_case in runs for attempt in of_case]
        self._counts = [len(of_case) for of_case in runs]
        turns = [attempt.turns for attempt in attempts]
        self._turns = [turn for of_attempt in turns for turn in of_attempt]
        self._lengths = [] if len(self._turns) == len(turns) and () not in turns else list(map(len, turns))

    def has_scale(self) -> bool:
        """Whether any score lies between the worst and the best, and says more than whether the check passed."""
        return not {result.score for turn in self._turns for result in turn.results} <= {None, 0.0, 1.0}

    def seconds(self) -> Means:
        """What a run of each case took on average."""
        return self._means([turn.latency_s for turn in self._turns])

    def dollars(self) -> Means:
        """What a run of each case cost on average."""
        return self._means([turn.cost_usd for turn in self._turns])

    def _means(self, took: Sequence[float | None]) -> Means:
        """Place → the mean over the case's runs that have the value, per turn."""
        if took.count(None) == len(took):
            return {}
        if self._lengths:  # not one turn a run
            turns = iter(took)
            attempts = [[*islice(turns, length)] for length in self._lengths]
            took = [None if not run or None in run else fsum(filter(None, run)) for run in attempts]
        whole = [run for run in took if run is not None]
        if len(whole) == len(took) and len({*self._counts}) == 1:  # as nearly always, and then quick
            count = self._counts[0]
            return {
                place: sum(runs) / count for place, runs in enumerate(zip(*[iter(whole)] * count, strict=True))
            }
        left = iter(took)
        of_cases = [[run for run in islice(left, count) if run is not None] for count in self._counts]
        return {place: sum(known) / len(known) for place, known in enumerate(of_cases) if known}


def _scores(
    before: _Runs, now: _Runs, evaluators: Collection[str], beside: MetricName | None
) -> Iterator[tuple[str, Values, Values]]:
    if beside is not None:
        read = _passes if beside == "pass_rate" else attrgetter("values")
        yield beside, dict(enumerate(map(read, before.cases))), dict(enumerate(map(read, now.cases)))
    if len(evaluators) > 1 or (evaluators and (before.has_scale() or now.has_scale())):
        of_base, of_head = _by_evaluator(before.cases), _by_evaluator(now.cases)
        for name in sorted(evaluators):
            yield f"evaluator:{name}", of_base.get(name, {}), of_head.get(name, {})


def _passes(case: CaseReport) -> tuple[float, ...]:
    return tuple(VALUE_OF[run.status] for run in case.runs if run.status.measured)


def _by_evaluator(cases: Sequence[CaseReport]) -> Mapping[str, Values]:
    """Evaluator → place → its mean score in each attempt, over the turns that it judged."""
    scores = grouped(
        (name, (place, score))
        for place, case in enumerate(cases)
        for attempt in case.runs
        for name, score in _scores_of(attempt)
    )
    return {name: grouped(pairs) for name, pairs in scores.items()}


def _scores_of(attempt: AttemptReport) -> Iterable[tuple[str, float]]:
    results = [result for turn in attempt.turns for result in turn.results]
    scored = [(result.id, result.score) for result in results if result.score is not None]
    if len(dict(scored)) == len(scored):
        return scored
    return [(name, fmean(scores)) for name, scores in grouped(scored).items()]


def _tested(name: str, base: Values, head: Values) -> MetricChange | None:
    if not any(place in head and head[place] and values for place, values in base.items()):
        return None
    test = case_blocked_test(base, head)
    return record_from(MetricChange, test, name=name, holm_p=test.p_value)


def _tested_by_ranks(name: str, unit: MetricUnit, base: Means, head: Means) -> MetricChange | None:
    """What a case took on both sides, paired; None if no case took more or less."""
    both = [place for place in base if place in head]
    test = signed_rank_test([head[place] - base[place] for place in both])
    if not test.pairs:
        return None
    return MetricChange(
        name=name,
        unit=unit,
        cases=len(both),
        base_mean=fmean([base[place] for place in both]),
        head_mean=fmean([head[place] for place in both]),
        p_value=test.rise_p_value,
        holm_p=test.rise_p_value,
    )
