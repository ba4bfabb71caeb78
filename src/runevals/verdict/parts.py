"""The whole and its parts: suites, categories and groups; each family is corrected on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

from msgspec import Struct

from runevals.lib.nullable import grouped
from runevals.lib.record_from import record_from
from runevals.lib.statistics.multiple_testing import holm
from runevals.lib.statistics.permutation_test import BlockedTest, Pattern, patterns_test
from runevals.records import Family, Finding, MetricName, Reason, RegressionRule, State
from runevals.verdict.matching import Pair, outcomes

PART_MIN_CASES = 5  # a smaller part is guarded by its single cases
PART_LEVEL = 0.25  # of alpha: the level of all parts together
_ROUNDING = 1e-9  # of a difference of means

Place = tuple[Family, str]  # which hypothesis: "suite", "evals/a.json"

WHOLE: Place = ("whole", "")


class Parts(Struct, frozen=True):
    """What is found about the whole and its parts, and the tests of the whole."""

    findings: tuple[Finding, ...]  # the whole's first
    whole: Mapping[MetricName, BlockedTest]
    smallest_p: float  # corrected, of a part also for its share of the level: how far the runs are from a loss


def parts_of(
    pairs: Sequence[Pair],
    rule: RegressionRule,
    *,
    alpha: float | None = None,
    only: Collection[Place] | None = None,
) -> Parts:
    """Every question about the whole and its parts, tested at `alpha` (default: the rule's).

    The whole is tested on its pass rate and, where a score says more, on the mean value too: Holm over both. A
    part is a suite, category or group of at least 5 cases that is not the whole; Holm over all parts, at a quarter
    of the level. `only` restricts the questions before correcting. Two bounds: missing values once best and once
    worst for the head; if these disagree, it is not known because of errors. Empty if no pair was measured.
    """
    level = rule.alpha if alpha is None else alpha
    metrics = [_Metric(name, pairs) for name in metrics_of(pairs)]
    whole = _questions([(WHOLE, range(len(pairs)))], metrics, only)
    parts = _questions(_parts(pairs, only), metrics, only)
    return Parts(
        findings=(
            *_tested(whole, _Level(level, rule, least_cases=0)),
            *_tested(parts, _Level(level * PART_LEVEL, rule, least_cases=1)),
        ),
        whole={question.metric.name: question.test for question in whole},
        smallest_p=min([*_corrected(whole), *(p / PART_LEVEL for p in _corrected(parts))], default=1.0),
    )


def metrics_of(pairs: Sequence[Pair]) -> tuple[MetricName, ...]:
    """The metrics to compare: the pass rate, and the mean value if any value says more than pass or fail."""
    return ("pass_rate", "share") if any(pair.scored for pair in pairs) else ("pass_rate",)


class _Level(Struct, frozen=True):
    """How small p must be for a loss, and how large the drop."""

    alpha: float
    rule: RegressionRule
    least_cases: int  # whole cases that the drop must amount to


def metric_test(pairs: Sequence[Pair], metric: MetricName) -> BlockedTest | None:
    """The permutation test of one metric over all pairs; None if no pair has it on both sides."""
    question = _Question(WHOLE, _Metric(metric, pairs), range(len(pairs)))
    return question.test if question.counts else None


def _questions(
    places: Iterable[tuple[Place, Sequence[int]]], metrics: Sequence[_Metric], only: Collection[Place] | None
) -> list[_Question]:
    questions = [
        _Question(place, metric, members)
        for place, members in places
        if only is None or place in only
        for metric in metrics
    ]
    return [question for question in questions if question.counts]


_READ: Mapping[Family, Callable[[Pair], str | None]] = {  # the base's: a change cannot spread a part over others
    "suite": attrgetter("base.suite"),
    "category": attrgetter("base.category"),
    "group": attrgetter("base.group"),
}


def _parts(pairs: Sequence[Pair], only: Collection[Place] | None) -> Iterator[tuple[Place, Sequence[int]]]:
    """Suites, categories and groups; of several with the same cases only the first.

    Those in `only` are always included: if one is run again alone, there are no other cases.
    """
    known = {tuple(range(len(pairs)))}
    for family, read in _READ.items():
        for name, places in grouped(zip(map(read, pairs), range(len(pairs)), strict=True)).items():
            if name is None or len(places) < PART_MIN_CASES:
                continue
            same = tuple(places)
            if same not in known if only is None else (family, name) in only:
                known.add(same)
                yield (family, name), places


# What is read of each pair and counted, and the values of both sides that it stands for.
_SHAPES: Mapping[MetricName, tuple[Callable[[Pair], tuple[Any, ...]], Callable[..., Pattern]]] = {
    "pass_rate": (
        attrgetter("before.passes", "before.runs", "now.passes", "now.runs"),
        lambda passed, runs, passed_now, runs_now: (outcomes(passed, runs), outcomes(passed_now, runs_now)),
    ),
    "share": (
        lambda pair: (tuple(sorted(pair.before.values)), tuple(sorted(pair.now.values))),
        lambda before, now: (before, now),
    ),
}


class _Metric:
    """One metric of all pairs, read once: the whole and every part count from it."""

    def __init__(self, name: MetricName, pairs: Sequence[Pair]) -> None:
        self.name = name
        self.pairs = pairs
        read, self._values = _SHAPES[name]
        self._shapes = [*map(read, pairs)]

    def counted(self, members: Sequence[int]) -> Mapping[Pattern, int]:
        """The patterns of the pairs that have values on both sides."""
        everything = len(members) == len(self._shapes)
        counts = Counter(self._shapes if everything else [self._shapes[index] for index in members])
        patterns = ((self._values(*shape), count) for shape, count in counts.items())
        return {pattern: count for pattern, count in patterns if all(pattern)}


class _Question:
    """One hypothesis before it is decided."""

    def __init__(self, place: Place, metric: _Metric, members: Sequence[int]) -> None:
        self.place = place
        self.metric = metric
        self.members = members
        self.counts = metric.counted(members)

    @cached_property
    def test(self) -> BlockedTest:
        """The test of the measured values."""
        return patterns_test(self.counts)

    @property
    def errored(self) -> bool:
        """Whether a run that was due has no value."""
        return not all(self.metric.pairs[index].complete for index in self.members)

    def with_errors_as(self, *, on_base: int, on_head: int) -> BlockedTest:
        """The test if every run that could not be measured had this outcome, 0 or 1."""
        pairs = [self.metric.pairs[index].completed(on_base, on_head) for index in self.members]
        return patterns_test(_Metric(self.metric.name, pairs).counted(range(len(pairs))))


def _tested(questions: Sequence[_Question], level: _Level) -> Iterator[Finding]:
    """The findings of one group of families, corrected together."""
    lost = _lost([question.test for question in questions], level)
    at_best, at_worst = lost, lost
    if any(question.errored for question in questions):
        at_best = _lost([q.with_errors_as(on_base=0, on_head=1) for q in questions], level)
        at_worst = _lost([q.with_errors_as(on_base=1, on_head=0) for q in questions], level)
    for question, best, worst in zip(questions, at_best, at_worst, strict=True):
        yield _finding(question, level.rule, best=best, worst=worst)


def _corrected(questions: Sequence[_Question]) -> Sequence[float]:
    return holm([question.test.p_value for question in questions])


def _lost(tests: Sequence[BlockedTest], level: _Level) -> list[bool]:
    """Which are losses that block: p small enough after Holm's correction, and the drop large enough."""
    corrected = holm([test.p_value for test in tests])
    return [
        p <= level.alpha and test.drop >= max(level.rule.min_effect, level.least_cases / test.cases) - _ROUNDING
        for test, p in zip(tests, corrected, strict=True)
    ]


def _finding(question: _Question, rule: RegressionRule, *, best: bool, worst: bool) -> Finding:
    """Both bounds agree, or errors decide; a real drop of the whole that is too small to block is named."""
    test, (family, name) = question.test, question.place
    state, reason = (State.WORSE, Reason.EXACT) if best else (State.NOT_WORSE, Reason.BY_CHANCE)
    if best != worst:
        state, reason = State.NOT_KNOWN, Reason.ERRORS
    elif family == "whole" and test.p_value <= rule.alpha and _ROUNDING < test.drop < rule.min_effect - _ROUNDING:
        reason = Reason.SMALL
    return record_from(
        Finding, test, family=family, name=name, state=state, reason=reason, metric=question.metric.name
    )
