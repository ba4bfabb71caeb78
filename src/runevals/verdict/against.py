"""A run against the same cases measured otherwise: what a skill is worth, or which target is not worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from statistics import fmean

from msgspec.structs import replace

from runevals.lib.statistics.multiple_testing import holm
from runevals.records import AgainstComparison, CaseReport, MetricName, Outcome, RunReport, State
from runevals.verdict.causes import FEWEST, SHARE
from runevals.verdict.matching import Pair
from runevals.verdict.parts import metric_test, metrics_of
from runevals.verdict.secondary_metrics import costs
from runevals.verdict.sides import Sides

ROUNDING = 1e-9  # of a difference of means
HALF = 0.5  # of its runs: a case that loses as many is lost


def against_other(head: RunReport, other: RunReport, name: str) -> AgainstComparison | None:
    """The score if a judge graded, else the pass rate; None if no case was measured on both sides."""
    return _against(Sides.of(head, other), head, other, name)


def _against(sides: Sides, head: RunReport, other: RunReport, name: str) -> AgainstComparison | None:
    pairs = sides.measured
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
        deterministic=_repeats(head) and _repeats(other),
        other=other,
    )


def against_target(
    reports: Mapping[str, RunReport], reference: str, *, margin: float, alpha: float
) -> Mapping[str, AgainstComparison]:
    """Every other target against `reference`: is it at most `margin` worse? Holm over the targets.

    It must hold in both metrics, the pass rate and the share if a judge graded; the larger p counts (Berger 1982).
    What could not be measured counts against the target: as failed here, and as passed on the reference. Of two
    deterministic targets every difference is real: nothing is tested, and the bound is the drop itself.
    """
    from runevals.lib.statistics.non_inferiority import non_inferiority_p_value  # of several targets

    report_there = reports[reference]
    sides = {name: Sides.of(report, report_there) for name, report in reports.items() if name != reference}
    comparisons = {
        name: _against(of_both, reports[name], report_there, reference) for name, of_both in sides.items()
    }
    compared = {name: comparison for name, comparison in comparisons.items() if comparison is not None}
    losses = {name: _losses(sides[name].due) for name in compared}

    tested = [name for name, comparison in compared.items() if not comparison.deterministic]

    def p_value(name: str, at: float) -> float:
        p_values = [max(non_inferiority_p_value(each, at) for each in losses[other]) for other in tested]
        return holm(p_values)[tested.index(name)]

    def with_margin(name: str) -> AgainstComparison:
        of_margin = None
        if name in tested:
            of_margin = p_value(name, margin), _bound(partial(p_value, name), margin, alpha)
        p, bound = of_margin or (None, round(max(0.0, *map(fmean, losses[name])), 12))  # sums of fractions
        return replace(compared[name], margin=margin, margin_p_value=p, drop_bound=bound)

    level = alpha / max(1, len(tested))
    return {name: _with_state(with_margin(name), sides[name].measured, level) for name in compared}


def _with_state(comparison: AgainstComparison, pairs: Sequence[Pair], level: float) -> AgainstComparison:
    """Worse: an exact test at `level` says that it is worse at all, and what is seen is beyond the margin."""
    assert comparison.margin is not None  # noqa: S101 - of another target
    margin, bound = comparison.margin, comparison.drop_bound or 0.0
    tests = [test for metric in metrics_of(pairs) if (test := metric_test(pairs, metric)) is not None]
    certain = comparison.deterministic
    worse = any(test.drop > margin + ROUNDING and (certain or test.p_value <= level) for test in tests)
    lost = [pair for pair in pairs if lost_runs(pair) >= HALF]
    state = State.WORSE if worse else State.NOT_KNOWN
    drop = max(test.drop for test in tests)
    to_show = margin - drop if drop < margin else drop  # the distance that the uncertainty must fit into
    return replace(
        comparison,
        state=State.NOT_WORSE if comparison.not_worse else state,
        lost_cases=len(lost),
        lost_categories=tuple(_lost_categories(pairs, lost)),
        times_more=None if certain else ((bound - drop) / max(to_show, 0.001)) ** 2,
    )


def lost_runs(pair: Pair) -> float:
    """The share of its runs that a case loses; a gain is negative."""
    return pair.before.passes / pair.before.runs - pair.now.passes / pair.now.runs


def _lost_categories(pairs: Sequence[Pair], lost: Sequence[Pair]) -> Iterator[str]:
    """Categories that explain their losses, as in the groups of a report."""
    cases = Counter(pair.base.category for pair in pairs)
    for category, number in Counter(pair.base.category for pair in lost).items():
        if category is not None and number >= max(FEWEST, SHARE * cases[category]):
            yield category


def _repeats(report: RunReport) -> bool:
    """Whether its target is called deterministic, and no case contradicts that by its runs."""
    outcomes = ({attempt.status for attempt in case.runs} for case in report.cases)
    return report.run.target.deterministic and all(len(each) <= 1 for each in outcomes)


def _bound(p_value: Callable[[float], float], margin: float, alpha: float) -> float:
    """The smallest margin at which p is at most alpha; 1 if there is none. p falls with the margin."""
    low, high = (0.0, margin) if p_value(margin) <= alpha else (margin, 1.0)
    for _ in range(12):
        middle = (low + high) / 2
        if p_value(middle) <= alpha:
            high = middle
        else:
            low = middle
    return high


def _losses(pairs: Sequence[Pair]) -> Sequence[Sequence[float]]:
    """What each case lost, by metric: its mean on the reference minus its mean here."""
    return [[_loss(pair, metric) for pair in pairs] for metric in metrics_of(pairs)]


def _loss(pair: Pair, metric: MetricName) -> float:
    sides = (pair.before, pair.now)
    before, now = (side.outcomes if metric == "pass_rate" else side.values for side in sides)
    return (fsum(before) + pair.before.due - len(before)) / pair.before.due - fsum(now) / pair.now.due


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
