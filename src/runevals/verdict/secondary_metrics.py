"""The metrics beside the one that gates: tested one by one, corrected together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum

from runevals.lib.statistics.multiple_testing import holm
from runevals.lib.statistics.permutation_test import case_blocked_test
from runevals.records import CaseReport, MetricChange, MetricName, Outcome
from runevals.verdict.matching import Pair

Values = dict[int, tuple[float, ...]]


def metric_changes(
    pairs: Sequence[Pair], evaluators: Collection[str], *, beside: MetricName | None
) -> tuple[MetricChange, ...]:
    """One entry a metric: `beside` the one that the comparison's numbers are of, and each evaluator's scores.

    Of one evaluator that only passes or fails, the pass rate says all. `holm_p` is corrected over all of them.
    """
    found = [
        change for name, base, head in _metrics(pairs, evaluators, beside) if (change := _tested(name, base, head))
    ]
    found.sort(key=lambda change: (change.p_value, change.name))
    corrected = holm([change.p_value for change in found])
    return tuple(replace(change, holm_p=p) for change, p in zip(found, corrected, strict=True))


def _metrics(
    pairs: Sequence[Pair], evaluators: Collection[str], beside: MetricName | None
) -> Iterator[tuple[str, Values, Values]]:
    if beside is not None:
        read = _passes if beside == "pass_rate" else _shares
        before = {place: read(pair.base) for place, pair in enumerate(pairs)}
        yield beside, before, {place: read(pair.head) for place, pair in enumerate(pairs)}
    of_base = _by_evaluator([pair.base for pair in pairs])
    of_head = _by_evaluator([pair.head for pair in pairs])
    for name in sorted(evaluators):
        if len(evaluators) > 1 or _has_scale(of_base.get(name, {})) or _has_scale(of_head.get(name, {})):
            yield f"evaluator:{name}", of_base.get(name, {}), of_head.get(name, {})


def _has_scale(values: Values) -> bool:
    """Whether any score lies between the worst and the best: then it says more than whether the check passed."""
    return any(0 < value < 1 for of_case in values.values() for value in of_case)


def _passes(case: CaseReport) -> tuple[float, ...]:
    measured = [a for a in case.attempts if a.status in (Outcome.PASSED, Outcome.FAILED)]
    return tuple(float(attempt.status is Outcome.PASSED) for attempt in measured)


def _shares(case: CaseReport) -> tuple[float, ...]:
    return case.values


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
