"""The test for non-inferiority: is the mean loss smaller than a margin?

The losses of single cases, each from −1 to 1, are what is sampled. Under the hypothesis that their mean is the
margin or more, the likeliest distribution on the observed values and a total loss (1) has the mean exactly at the
margin: Owen's empirical likelihood (Owen 2001, "Empirical Likelihood", section 2.9). With one run a side it is the
restricted estimate of Nam (1997, "Establishing equivalence of two treatments and sample size requirements in
matched-pairs design") and Tango (1998). p is the chance, under that distribution, of a total loss at most the
observed one: the estimated p-value of Lloyd and Moldovan (2008, "A more powerful exact test of noninferiority from
binary matched-pairs data"). It is computed exactly by inverting the characteristic function of the sum (Hong 2013,
"On computing the distribution function for the Poisson binomial distribution"); if there are too many different
sums, the normal form with a skewness term is taken. No random numbers.
"""

from __future__ import annotations

from cmath import exp as complex_exp
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import fsum, lcm, pi, sqrt

from runevals.lib.statistics.permutation_test import cumulative

EXACT_MAX_WORK = 400_000  # terms of the characteristic function
_MAX_DENOMINATOR = 1000
_SMALLEST = 1e-12  # a difference of means below it is rounding

Weights = Mapping[Fraction, float]


def non_inferiority_p_value(losses: Sequence[float], margin: float) -> float:
    """The p-value of the hypothesis that the mean loss is `margin` (0 to 1) or more.

    `losses` are those of the cases: the mean on the reference minus the mean here, each from −1 to 1. Raises
    ValueError if there is none.
    """
    if not losses:
        raise ValueError("there is no case to test")
    counts: Counter[Fraction] = Counter()
    for loss, count in Counter(losses).items():
        counts[Fraction(loss).limit_denominator(_MAX_DENOMINATOR)] += count
    number = len(losses)
    if fsum(losses) / number >= margin - _SMALLEST:
        return 1.0
    weights = _restricted(counts, number, margin)
    grid = lcm(*(value.denominator for value in weights))
    steps = {int((value + 1) * grid): weight for value, weight in weights.items()}
    observed = sum(int((value + 1) * grid) * count for value, count in counts.items())
    lowest = min(steps)
    steps = {step - lowest: weight for step, weight in steps.items()}
    observed -= lowest * number
    sums = max(steps) * number + 1
    if sums * len(steps) <= EXACT_MAX_WORK:
        return _exact(steps, number, observed, sums)
    return _normal(steps, number, observed)


def _restricted(counts: Mapping[Fraction, int], number: int, margin: float) -> Weights:
    """The likeliest distribution whose mean is the margin; what no observed value can have, a total loss has.

    Its weights are n(v)/n / (1 + λ(margin − v)), with the λ at which their mean is the margin.
    """
    slopes = [(margin - float(value), count) for value, count in counts.items()]
    total_loss = Fraction(1)
    low, high = 0.0, 1.0 / (1.0 - margin) if margin < 1.0 else float(number) / _SMALLEST
    if total_loss in counts:
        high *= 1 - _SMALLEST
    for _ in range(100):
        middle = (low + high) / 2
        if fsum([count * slope / (1 + middle * slope) for slope, count in slopes]) > 0:
            low = middle
        else:
            high = middle
    weights = {value: count / number / (1 + high * (margin - float(value))) for value, count in counts.items()}
    weights[total_loss] = weights.get(total_loss, 0.0) + max(0.0, 1.0 - fsum(weights.values()))
    return weights


def _exact(steps: Mapping[int, float], number: int, observed: int, sums: int) -> float:
    """The chance that `number` draws sum up to at most `observed`; no sum is `sums` or more."""
    terms = [(observed + 1) / sums]
    for frequency in range(1, sums // 2 + 1):
        turn = complex_exp(-2j * pi * frequency / sums)
        each = sum([weight * turn ** (-step % sums) for step, weight in steps.items()], 0j)
        tail = (1 - turn ** ((observed + 1) % sums)) / (1 - turn)
        twice = 1 if 2 * frequency == sums else 2  # the second half mirrors the first
        terms.append(twice * (each**number * tail).real / sums)
    return min(1.0, max(0.0, fsum(terms)))


def _normal(steps: Mapping[int, float], number: int, observed: int) -> float:
    """The p-value from the first three moments, with continuity and skewness terms."""
    mean = fsum([step * weight for step, weight in steps.items()])
    variance = fsum([(step - mean) ** 2 * weight for step, weight in steps.items()])
    skew = (
        fsum([(step - mean) ** 3 * weight for step, weight in steps.items()]) / sqrt(variance) ** 3 / sqrt(number)
    )
    return cumulative((observed + 0.5 - number * mean) / sqrt(number * variance), skew)
