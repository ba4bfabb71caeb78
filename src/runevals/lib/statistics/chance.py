"""How probably two sides that pass equally often show at least so many cases that always passed and now never do.

For results that cannot be run again. The pass rates of the cases follow a Beta distribution that the runs of both
sides predict: it begins at the shape that real suites have, most cases pass nearly always and some nearly never,
with the weight of ten cases. The cases in question are left out, and the prediction allows for that: the others
count with the probability of their runs, given that they are not among the cases in question.

An unchanged case shows its passes in each order equally often. So the cases with as many passes in another order
correct the predicted number: in a large suite they alone decide, whatever its pass rates are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import starmap
from math import comb, exp, fsum, lgamma, log, log1p, sqrt

from msgspec import Struct

START = (0.6, 0.2)  # the Beta distribution of a suite of which nothing is known, a U-shape with mean 0.75
START_CASES = 10  # its weight, and that of what is predicted, in cases with as many passes in another order
MEANS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995)
SIZES = (0.3, 0.5, 0.8, 1.2, 2.0, 4.0, 8.0, 16.0, 40.0, 100.0)  # a + b: the larger, the more alike the cases are

Beta = tuple[float, float]  # a, b

_GRID = tuple((size * mean, size * (1 - mean)) for mean in MEANS for size in SIZES)


class Shape(Struct, frozen=True, kw_only=True):
    """The runs of one case, of those that have a value."""

    base_passes: int
    base_runs: int
    head_passes: int
    head_runs: int

    @property
    def lost(self) -> bool:
        """Always passed, and never does now."""
        return self.base_passes == self.base_runs > 0 == self.head_passes < self.head_runs


class Chance(Struct, frozen=True, kw_only=True):
    """What an unchanged suite would show."""

    lost: int  # cases that always passed and never do now
    probability: float  # of at least so many
    at_most: float  # as `probability`, whatever the pass rates are
    expected: float  # how many such cases an unchanged suite shows


def chance(shapes: Mapping[Shape, int], *, head_runs: int | None = None) -> Chance:
    """From the number of cases of each shape.

    `head_runs`: how many runs of the head any case would have by now that fails its first, if others have fewer.
    """
    cases = {shape: number for shape, number in shapes.items() if shape.base_runs and shape.head_runs}
    sides: Counter[tuple[int, int]] = Counter()
    for shape, number in cases.items():
        sides[shape.base_runs, shape.head_runs] += number
    lost = sum(number for shape, number in cases.items() if shape.lost)
    alike = sum(n for shape, n in cases.items() if shape.base_passes + shape.head_passes == shape.base_runs)
    others = START_CASES + alike - lost
    of_others = _sum((n, _by_chance(*runs, comb(sum(runs), runs[0]) - 1)) for runs, n in sides.items())
    predicted = [(weight, START_CASES + number) for weight, number in zip(_weights(cases), of_others, strict=True)]
    numbers = _sum((n, _by_chance(base, head_runs or head)) for (base, head), n in sides.items())
    return Chance(
        lost=lost,
        probability=_probability(lost, others, predicted, numbers),
        at_most=binomial_tail(lost, sides.total(), max(starmap(highest, sides), default=0.0)),
        expected=others * fsum(weight * new / old for (weight, old), new in zip(predicted, numbers, strict=True)),
    )


def binomial_tail(least: int, number: int, probability: float) -> float:
    """The probability of at least `least` successes in `number` trials, also a very small one."""
    mean = number * probability
    if least <= max(0.0, mean - 9 * sqrt(mean)) or probability >= 1:
        return 1.0
    if least > number or probability <= 0:
        return 0.0
    term = exp(
        lgamma(number + 1)
        - lgamma(least + 1)
        - lgamma(number - least + 1)
        + least * log(probability)
        + (number - least) * log1p(-probability)
    )
    terms = []
    for successes in range(least, number + 1):
        terms.append(term)
        if term < 1e-17 * terms[0] or term < 1e-300:
            break
        term *= (number - successes) / (successes + 1) * probability / (1 - probability)
    return min(1.0, fsum(terms))


def _probability(
    lost: int, others: int, predicted: Sequence[tuple[float, float]], numbers: Sequence[float]
) -> float:
    """The probability of at least so many, over all Beta distributions: their weights and numbers of others.

    As wrong as it is about the others, it is about these: the factor follows a Gamma distribution.
    """
    tails = (
        weight * binomial_tail(lost, lost + others - 1, new / (new + old))
        for (weight, old), new in zip(predicted, numbers, strict=True)
    )
    return min(1.0, fsum(tails))


def _weights(cases: Mapping[Shape, int]) -> list[float]:
    """How probable each Beta distribution of the grid is."""
    total = sum(cases.values())
    terms: list[tuple[float, Sequence[float]]] = []
    for shape, number in cases.items():
        runs = shape.base_runs + shape.head_runs
        terms.append((START_CASES * number / total, _start(runs)))
        if not shape.lost:
            terms.append((number, _log_likelihoods(shape.base_passes + shape.head_passes, runs)))
            terms.append((-number, [log1p(-rate) for rate in _by_chance(shape.base_runs, shape.head_runs)]))
    logs = _sum(terms)
    largest = max(logs)
    weights = [exp(value - largest) for value in logs]
    whole = fsum(weights)
    return [weight / whole for weight in weights]


def _sum(terms: Iterable[tuple[float, Sequence[float]]]) -> list[float]:
    """Each so many times, for each Beta distribution of the grid."""
    sums = [0.0] * len(_GRID)
    for number, values in terms:
        sums = [whole + number * value for whole, value in zip(sums, values, strict=True)]
    return sums


@cache
def _log_likelihoods(passes: int, runs: int) -> tuple[float, ...]:
    """The log likelihood of so many passes in a certain order, for each Beta distribution of the grid."""
    return tuple(log_probability(shape, passes, runs - passes) for shape in _GRID)


@cache
def _start(runs: int) -> list[float]:
    """The expected log likelihoods of one case with so many runs, if the suite is as most are."""
    return _sum((beta_binomial(k, runs, START), _log_likelihoods(k, runs)) for k in range(runs + 1))


@cache
def _by_chance(base_runs: int, head_runs: int, orders: int = 1) -> tuple[float, ...]:
    """How probably an unchanged case passes all runs of the base and fails all of the head, in so many orders."""
    return tuple(exp(log(orders) + log_probability(shape, base_runs, head_runs)) for shape in _GRID)


def highest(base_runs: int, head_runs: int) -> float:
    """How probably an unchanged case passes all runs of the base and fails all now, at the worst pass rate."""
    rate = base_runs / (base_runs + head_runs)
    return rate**base_runs * (1 - rate) ** head_runs


def beta_weights(counts: Mapping[tuple[int, int], int]) -> Sequence[tuple[float, Beta]]:
    """(weight, Beta distribution of the pass rates of a suite); `counts`: the cases of each (passes, runs).

    Nothing is supposed of the suite: the odds of its mean rate, and how alike its cases are, are equally probable
    on a scale of powers. So its cases may be all alike, or some may always pass and some never.
    """
    means = [1 / (1 + 2 ** (-quarter / 4)) for quarter in range(-20, 53)]  # 3 % to 99.99 %
    shapes = [(2.0**power * mean, 2.0**power * (1 - mean)) for mean in means for power in range(-2, 18)]
    logs = [
        fsum(number * log_probability(shape, passes, runs - passes) for (passes, runs), number in counts.items())
        for shape in shapes
    ]
    largest = max(logs)
    return [(exp(value - largest), shape) for value, shape in zip(logs, shapes, strict=True)]


def beta_binomial(passes: int, runs: int, shape: Beta) -> float:
    """The probability of so many passes of one case, in any order."""
    return exp(log(comb(runs, passes)) + log_probability(shape, passes, runs - passes))


def log_probability(shape: Beta, passes: int, fails: int) -> float:
    """The logarithm of the probability of so many passes and fails of one case, in a certain order."""
    a, b = shape
    return _log_beta(a + passes, b + fails) - _log_beta(a, b)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
