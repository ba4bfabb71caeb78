"""A run against the same cases measured otherwise: what the skill under test is worth, say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum

from runevals.records import AgainstComparison, CaseReport, Outcome, RunReport
from runevals.verdict.compare import Sides
from runevals.verdict.families import metric_test, metrics_of
from runevals.verdict.matching import Pair
from runevals.verdict.secondary_metrics import costs


def against_other(head: RunReport, other: RunReport, name: str) -> AgainstComparison | None:
    """The score if a judge graded, else the pass rate; None if no case was measured on both sides."""
    pairs = Sides.of(head, other).measured
    metric = metrics_of(pairs)[-1]
    test = metric_test(pairs, metric)
    if test is None:
        return None
    low, high = test.interval
    return AgainstComparison(
        name=name,
        cases=test.cases,
        metric=metric,
        other_mean=test.base_mean,
        head_mean=test.head_mean,
        interval=(-high, -low),
        p_value=test.gain_p_value if test.drop < 0 else test.p_value,
        cost_ratio=_cost_ratio(pairs),
        always_passed=tuple(_constant(pairs, Outcome.PASSED)),
        always_failed=tuple(_constant(pairs, Outcome.FAILED)),
        deterministic=head.run.target.deterministic,
        other=other,
    )


def _cost_ratio(pairs: Sequence[Pair]) -> float | None:
    """What a run of each case cost here, by what it cost there; None if that is unknown, or nothing."""
    here, there = costs([pair.head for pair in pairs]), costs([pair.base for pair in pairs])
    both = here.keys() & there.keys()
    other = fsum(there[place] for place in both)
    return fsum(here[place] for place in both) / other if other else None


def _constant(pairs: Sequence[Pair], outcome: Outcome) -> Iterator[str]:
    """The checks that came out so in every run of both sides: they say nothing of the difference."""
    for pair in pairs:
        sides = [_outcomes(case) for case in (pair.base, pair.head)]
        for check in sides[1]:
            if all(side.get(check) == {outcome} for side in sides):
                yield f"{pair.head.key}: {check}"


def _outcomes(case: CaseReport) -> dict[str, set[Outcome]]:
    outcomes: dict[str, set[Outcome]] = {}
    for attempt in case.runs:
        for turn in attempt.turns:
            for result in turn.results:
                outcomes.setdefault(result.id, set()).add(result.outcome)
    return outcomes
