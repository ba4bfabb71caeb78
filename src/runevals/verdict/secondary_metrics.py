"""The metrics beside the one that gates: tested one by one, corrected together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum

from runevals.lib.statistics.permutation_test import case_blocked_test
from runevals.records import CaseReport, MetricChange, Outcome
from runevals.verdict.matching import Pair

Values = dict[int, tuple[float, ...]]


def metric_changes(
    pairs: Sequence[Pair], evaluators: Collection[str], *, graded: bool
) -> tuple[MetricChange, ...]:
    """One entry a metric: the scores of each of `evaluators`, and pass rates where shares gate.

    With one evaluator there is nothing beside what gates. Holm's step-down correction: of m sorted
    p-values, the k-th is multiplied by m − k + 1, and none is smaller than the one before it.
    """
    found = [
        change
        for name, base, head in _metrics(pairs, evaluators, graded=graded)
        if (change := _tested(name, base, head))
    ]
    found.sort(key=lambda change: (change.p_value, change.name))
    corrected, largest = [], 0.0
    for rank, change in enumerate(found):
        largest = max(largest, min(1.0, change.p_value * (len(found) - rank)))
        corrected.append(replace(change, holm_p=largest))
    return tuple(corrected)


def _metrics(
    pairs: Sequence[Pair], evaluators: Collection[str], *, graded: bool
) -> Iterator[tuple[str, Values, Values]]:
    if graded:
        before = {place: _passes(pair.base) for place, pair in enumerate(pairs)}
        yield "pass_rate", before, {place: _passes(pair.head) for place, pair in enumerate(pairs)}
    if len(evaluators) > 1:
        of_base = _by_evaluator([pair.base for pair in pairs])
        of_head = _by_evaluator([pair.head for pair in pairs])
        for name in sorted(evaluators):
            yield f"evaluator:{name}", of_base.get(name, {}), of_head.get(name, {})


def _passes(case: CaseReport) -> tuple[float, ...]:
    measured = [a for a in case.attempts if a.status in (Outcome.PASSED, Outcome.FAILED)]
    return tuple(float(attempt.status is Outcome.PASSED) for attempt in measured)


def _by_evaluator(cases: Sequence[CaseReport]) -> Mapping[str, Values]:
    """Evaluator → place → its mean score in each attempt, over the turns that it judged."""
    found: dict[str, Values] = defaultdict(dict)
    for place, case in enumerate(cases):
        for attempt in case.attempts:
            scores: dict[str, list[float]] = {}
            for turn in attempt.turns:
                for result in turn.results:
                    if result.score is not None:
                        scores.setdefault(result.id, []).append(result.score)
            for name, values in scores.items():
                value = values[0] if len(values) == 1 else fsum(values) / len(values)
                of_case = found[name]
                of_case[place] = (*of_case.get(place, ()), value)
    return found


def _tested(name: str, base: Values, head: Values) -> MetricChange | None:
    if not any(place in head and head[place] and values for place, values in base.items()):
        return None
    test = case_blocked_test(base, head)
    return MetricChange(
        name=name,
        cases=test.cases,
        base_mean=test.base_mean,
        head_mean=test.head_mean,
        p_value=test.p_value,
        holm_p=test.p_value,
    )
