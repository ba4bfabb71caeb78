"""A run against the same cases measured otherwise: what a skill is worth, or which target is not worse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from operator import attrgetter
from statistics import fmean

from msgspec.structs import replace

from runevals.lib.nullable import grouped, without_none
from runevals.lib.statistics.multiple_testing import holm
from runevals.records import AgainstComparison, CaseReport, Finding, Outcome, RegressionRule, RunReport, State
from runevals.verdict.matching import Pair
from runevals.verdict.parts import PART_LEVEL, Parts, metric_test, metrics_of, parts_of
from runevals.verdict.secondary_metrics import costs
from runevals.verdict.sides import Sides

BEYOND = 2e-9  # more than the margin, whatever the rounding of a difference of means
EVERY_P = 1 / PART_LEVEL  # the level at which every difference is proven, also of a part
HALF = 0.5  # of its runs: a case that loses as many is lost
_VALUES = {"pass_rate": attrgetter("outcomes"), "share": attrgetter("values")}  # of a side


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
    What could not be measured counts against the target: as failed here, and as passed on the reference. One part
    cannot pay for another: what is proven lost of it must be within the margin, too, by the tests that a change
    has. Of two deterministic targets every difference is real: nothing is tested, and the drops are the bound.
    """
    from runevals.lib.statistics.non_inferiority import non_inferiority_p_value  # of several targets

    report_there = reports[reference]
    sides = {name: Sides.of(report, report_there) for name, report in reports.items() if name != reference}
    comparisons = {
        name: _against(of_both, reports[name], report_there, reference) for name, of_both in sides.items()
    }
    compared = without_none(**comparisons)
    at_worst = {name: [pair.completed(1, 0) for pair in sides[name].due] for name in compared}
    losses = {name: _losses(pairs) for name, pairs in at_worst.items()}
    tested = [name for name, comparison in compared.items() if not comparison.deterministic]

    def p_value(name: str, at: float) -> float:
        p_values = [max(non_inferiority_p_value(each, at) for each in losses[other]) for other in tested]
        return holm(p_values)[tested.index(name)]

    def with_state(name: str) -> AgainstComparison:
        level, p, bound = EVERY_P, None, 0.0
        if name in tested:
            level, p = alpha / len(tested) / (1 + PART_LEVEL), p_value(name, margin)  # parts have their own
            bound = _bound(partial(p_value, name), margin, alpha)
        rule = RegressionRule(alpha=level, min_effect=0.0)
        proven = max([0.0, *(round(each.drop, 12) for each in _lost(parts_of(at_worst[name], rule)))])
        comparison = replace(compared[name], margin=margin, margin_p_value=p, drop_bound=max(proven, bound))
        return _with_state(comparison, sides[name], replace(rule, min_effect=margin + BEYOND), proven)

    return {name: with_state(name) for name in compared}


def _with_state(
    comparison: AgainstComparison, sides: Sides, rule: RegressionRule, proven: float
) -> AgainstComparison:
    """Worse: exact tests prove a loss beyond the margin, of the whole or of a part, whatever the errors.

    If only those prove it (`proven`: the largest loss with them), they must be measured; else more runs settle it.
    """
    margin, bound = comparison.margin or 0.0, comparison.drop_bound or 0.0
    tested = parts_of(sides.due, rule)
    lost = _lost(tested)
    state = State.WORSE if lost else State.NOT_KNOWN
    drop = max(test.drop for test in tested.whole.values())
    to_show = margin - drop if drop < margin else drop  # the distance that the uncertainty must fit into
    return replace(
        comparison,
        state=State.NOT_WORSE if comparison.not_worse else state,
        lost_cases=sum(lost_runs(pair) >= HALF for pair in sides.measured),
        lost_parts=tuple(each for each in lost if each.family != "whole"),
        times_more=None if proven > margin else ((bound - drop) / max(to_show, 0.001)) ** 2,
    )


def _lost(parts: Parts) -> list[Finding]:
    return [each for each in parts.findings if each.state is State.WORSE]


def lost_runs(pair: Pair) -> float:
    """The share of its runs that a case loses; a gain is negative."""
    return pair.before.passes / pair.before.runs - pair.now.passes / pair.now.runs


def _repeats(report: RunReport) -> bool:
    """Whether its target is called deterministic, and no case contradicts that by its runs."""
    outcomes = ({attempt.status for attempt in case.runs} for case in report.cases)
    return report.run.target.deterministic and all(len(each) <= 1 for each in outcomes)


def _bound(p_value: Callable[[float], float], margin: float, alpha: float) -> float:
    """The smallest margin at which p is at most alpha; 1 if there is none. p falls with the margin."""
    low, high = (0.0, margin) if p_value(margin) <= alpha else (margin, 1.0)
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if p_value(middle) <= alpha else (middle, high)
    return high


def _losses(pairs: Sequence[Pair]) -> Sequence[Sequence[float]]:
    """What each case lost, by metric: its mean on the reference minus its mean here."""
    values = [_VALUES[metric] for metric in metrics_of(pairs)]
    return [[fmean(of(pair.before)) - fmean(of(pair.now)) for pair in pairs] for of in values]


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
            if all({*side.get(check, ())} == {outcome} for side in sides):
                yield f"{pair.head.key}: {check}"


def _outcomes(case: CaseReport) -> dict[str, list[Outcome]]:
    results = (result for attempt in case.runs for turn in attempt.turns for result in turn.results)
    return grouped((result.id, result.outcome) for result in results)
