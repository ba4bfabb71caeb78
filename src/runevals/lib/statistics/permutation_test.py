"""The case-blocked permutation test: is a drop more than noise?

Within each case, the values seen on base and head are permuted; p is the chance that a permutation gives the head
a total at most the observed one (one repeat a side: exact McNemar or sign-flip test; several: exact
Cochran-Mantel-Haenszel). Integer arithmetic while small, otherwise the normal form with continuity and skewness
terms. No random numbers: the same input gives the same bits everywhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb, erfc, exp, fsum, gcd, lcm, pi, sqrt
from typing import TypeVar

from msgspec import Struct

from runevals.lib.statistics.power import Noise

K = TypeVar("K", bound=Hashable)

EXACT_MAX_CASES = 400
EXACT_MAX_BITS = 400_000
HALVES_MAX_VALUES = 24  # of one case, on any grid: two halves have 4,096 subsets each
_MAX_DENOMINATOR = 1000
_MAX_GRID = 10_000
_STEPS = 10**9  # to one; values that are equal so far are equal

Pattern = tuple[tuple[float, ...], tuple[float, ...]]  # one case: sorted base values, sorted head values


class BlockedTest(Struct, frozen=True, kw_only=True):
    """The result of the test. Drops and interval are in the unit of the values; a loss is positive."""

    cases: int  # with values on both sides
    p_value: float  # one-sided, for a loss
    gain_p_value: float  # one-sided, for a gain
    exact: bool
    base_mean: float
    head_mean: float
    drop: float
    interval: tuple[float, float]  # 95 %, of the drop
    noise: Noise  # on the range 0–1


def case_blocked_test(
    base: Mapping[K, Sequence[float]], head: Mapping[K, Sequence[float]], *, value_range: float = 1.0
) -> BlockedTest:
    """Compares the values of the cases that both sides have.

    Takes for each case key its values on base and on head, one an independent execution, in any order and
    number; keys that one side lacks, or has no value for, are left out. `value_range` is the width of the
    values' scale. Raises ValueError if no case has values on both sides.
    """
    patterns = Counter(
        (tuple(sorted(values)), tuple(sorted(head[key])))
        for key, values in base.items()
        if values and head.get(key)
    )
    return patterns_test(patterns, value_range=value_range)


def patterns_test(patterns: Mapping[Pattern, int], *, value_range: float = 1.0) -> BlockedTest:
    """Like `case_blocked_test`, for counted cases: (sorted base values, sorted head values) → number of cases.

    Raises ValueError if there is none.
    """
    if not patterns:
        raise ValueError("no case has values on both sides")
    cases = [_Case.of(pattern, count) for pattern, count in patterns.items()]
    number = sum(case.count for case in cases)
    base_mean = fsum([case.count * case.base_mean for case in cases]) / number
    head_mean = fsum([case.count * case.head_mean for case in cases]) / number
    varying = [case for case in cases if case.varies]
    grid = _grid(varying)
    step = 0.0 if grid is None else 1.0 / grid
    exact = _exact(varying, grid)
    loss, gain = exact if exact is not None else _normal(varying, step)
    drop, half = base_mean - head_mean, 1.96 * sqrt(_interval_variance(cases, step)) / number
    return BlockedTest(
        cases=number,
        p_value=loss,
        gain_p_value=gain,
        exact=exact is not None,
        base_mean=base_mean,
        head_mean=head_mean,
        drop=drop,
        interval=(max(-value_range, drop - half), min(value_range, drop + half)),
        noise=_noise(cases, number, value_range),
    )


def case_p_value(base: Sequence[float], head: Sequence[float]) -> float:
    """One case alone: the chance that a permutation gives the head at most the observed total."""
    case = _Case.of((tuple(sorted(base)), tuple(sorted(head))), 1)
    if not case.varies:
        return 1.0
    grid = _grid([case])
    exact = _exact([case], grid)
    if exact is not None:
        return exact[0]
    if case.size <= HALVES_MAX_VALUES:
        return _by_halves(case.pattern)
    return _normal([case], 0.0 if grid is None else 1.0 / grid)[0]


def _by_halves(pattern: Pattern) -> float:
    """p of one case by counting all permutations: the sums of subsets of one half are matched with the other's."""
    base, head = ([round(value * _STEPS) for value in side] for side in pattern)
    values, size, observed = base + head, len(head), sum(head)
    half = len(values) // 2
    first, second = (
        [sorted(map(sum, combinations(part, number))) for number in range(len(part) + 1)]
        for part in (values[:half], values[half:])
    )
    at_most = sum(
        bisect_right(second[size - number], observed - some)
        for number, sums in enumerate(first)
        if 0 <= size - number < len(second)
        for some in sums
    )
    return at_most / comb(len(values), size)


class _Case(Struct):
    """All cases of one pattern, with the sums the formulas need. Not frozen: that would double its price."""

    pattern: Pattern
    count: int
    base_size: int
    head_size: int
    base_mean: float
    head_mean: float
    base_squares: float  # sums of squared deviations from the side's own mean
    head_squares: float
    varies: bool

    @classmethod
    def of(cls, pattern: Pattern, count: int) -> _Case:
        base, head = pattern
        base_mean, base_squares = _moments(base)
        head_mean, head_squares = _moments(head)
        varies = not (base[0] == base[-1] == head[0] == head[-1])
        return cls(pattern, count, len(base), len(head), base_mean, head_mean, base_squares, head_squares, varies)

    @property
    def size(self) -> int:
        return self.base_size + self.head_size

    @property
    def weight(self) -> float:
        return 1.0 / self.base_size + 1.0 / self.head_size

    @property
    def pooled_variance(self) -> float:
        """Sample variance of all values of the case."""
        between = (self.base_mean - self.head_mean) ** 2 / self.weight
        return (self.base_squares + self.head_squares + between) / (self.size - 1)

    @property
    def within_variance(self) -> float:
        """Sample variance around each side's own mean; the pooled one where each side has one value."""
        if self.size == 2:
            return self.pooled_variance
        return (self.base_squares + self.head_squares) / (self.size - 2)


def _moments(values: tuple[float, ...]) -> tuple[float, float]:
    """Mean, and sum of squared deviations from it, of sorted values."""
    if values[0] == values[-1]:
        return values[0], 0.0
    mean = fsum(values) / len(values)
    return mean, fsum([(value - mean) ** 2 for value in values])


def _grid(varying: Sequence[_Case]) -> int | None:
    """The number g of steps to one unit such that all values are whole multiples of 1/g, None if too fine."""
    grid = 1
    for value in {value for case in varying for side in case.pattern for value in side}:
        fraction = Fraction(value).limit_denominator(_MAX_DENOMINATOR)
        grid = lcm(grid, fraction.denominator)
        if abs(float(fraction) - value) > 1e-9 or grid > _MAX_GRID:
            return None
    return grid


def _exact(varying: Sequence[_Case], grid: int | None) -> tuple[float, float] | None:
    """(p for a loss, p for a gain) by counting all permutations; None if that is too much work.

    Each case is a polynomial whose coefficient s counts the permutations with head sum s, times the case's weight.
    They are multiplied as big integers, one coefficient in each field of `bits` bits (Kronecker substitution).
    """
    if not varying:
        return 1.0, 1.0
    if grid is None or sum(case.count for case in varying) > EXACT_MAX_CASES:
        return None
    weights = _whole_weights({(case.base_size, case.head_size) for case in varying})
    factors: Counter[tuple[tuple[int, ...], int, int]] = Counter()  # sorted values, head size, weight
    observed = 0
    for case in varying:
        base, head = ([round(value * grid) for value in side] for side in case.pattern)
        low, weight = min(base[0], head[0]), weights[case.base_size, case.head_size]
        observed += case.count * weight * (sum(head) - low * len(head))
        factors[tuple(sorted(value - low for value in base + head)), len(head), weight] += case.count
    degree = sum(weight * sum(values[-size:]) * count for (values, size, weight), count in factors.items())
    total = 1
    for (values, size, _), count in factors.items():
        total *= comb(len(values), size) ** count
    bits = total.bit_length() + 1
    if (degree + 1) * bits > EXACT_MAX_BITS:
        return None
    product = 1
    for (values, size, weight), count in sorted(factors.items()):
        coefficients = _permutations(values, size)
        product *= sum(count_ << (bits * weight * head_sum) for head_sum, count_ in coefficients.items()) ** count
    field_sum = (1 << bits) - 1  # a number is congruent to the sum of its fields modulo this
    at_most = (product & ((1 << bits * (observed + 1)) - 1)) % field_sum
    return at_most / total, (product >> (bits * observed)) % field_sum / total


def _whole_weights(shapes: Collection[tuple[int, int]]) -> Mapping[tuple[int, int], int]:
    """Base and head size → the weight of a head sum in the sum of differences, in the smallest whole numbers."""
    unit = lcm(*(base * head for base, head in shapes))
    weights = {(base, head): unit * (base + head) // (base * head) for base, head in shapes}
    common = gcd(*weights.values())
    return {shape: weight // common for shape, weight in weights.items()}


@cache
def _permutations(values: tuple[int, ...], size: int) -> Mapping[int, int]:
    """Sum → in how many ways `size` of the values have it."""
    counts: list[Counter[int]] = [Counter() for _ in range(size + 1)]
    counts[0][0] = 1
    for value in values:
        for size_ in range(size - 1, -1, -1):
            for head_sum, count in list(counts[size_].items()):
                counts[size_ + 1][head_sum + value] += count
    return counts[size]


def _normal(varying: Sequence[_Case], step: float) -> tuple[float, float]:
    """(p for a loss, p for a gain) from the moments of the permutations' distribution.

    `step` is that of the values, 0 if it is too fine to count.
    """
    deviation = sqrt(fsum([case.count * case.pooled_variance * case.weight for case in varying]))
    skewed = [case for case in varying if case.base_size != case.head_size]
    skew = fsum([case.count * _third_moment(case) * case.weight**3 for case in skewed]) / deviation**3
    difference = fsum([case.count * (case.head_mean - case.base_mean) for case in varying])
    continuity = step * min(case.weight for case in varying) / 2
    loss = cumulative((difference + continuity) / deviation, skew)
    return loss, 1.0 - cumulative((difference - continuity) / deviation, skew)


def cumulative(z: float, skew: float, kurtosis: float = 0.0) -> float:
    """Standard normal distribution function with the first Edgeworth term of the skewness, and of the kurtosis."""
    density = exp(-z * z / 2.0) / sqrt(2.0 * pi)
    terms = skew / 6.0 * (z * z - 1.0) + kurtosis / 24.0 * (z**3 - 3.0 * z)
    return min(1.0, max(0.0, erfc(-z / sqrt(2.0)) / 2.0 - terms * density))


def _third_moment(case: _Case) -> float:
    """Third central moment of the head's total over all permutations (sampling without replacement)."""
    values = (*case.pattern[0], *case.pattern[1])
    mean = fsum(values) / case.size
    cubes = fsum([(value - mean) ** 3 for value in values])
    base, head, size = case.base_size, case.head_size, case.size
    return head * base * (base - head) / (size * (size - 1) * (size - 2)) * cubes


def _interval_variance(cases: Sequence[_Case], step: float) -> float:
    """Variance of the sum of the differences; a side with one value borrows the pooled variance."""
    terms, widest = [], 0.0
    for case in cases:
        base, head = case.base_size, case.head_size
        of_base = case.base_squares / (base - 1) if base > 1 else case.pooled_variance
        of_head = case.head_squares / (head - 1) if head > 1 else case.pooled_variance
        terms.append(case.count * (of_base / base + of_head / head))
        widest = max(widest, case.weight)
    return fsum(terms) + (step * widest / 2) ** 2


def _noise(cases: Sequence[_Case], number: int, value_range: float) -> Noise:
    """From the variance within each side, pooled; with one value a side, from the case's variance."""
    varying = [case for case in cases if case.varies]
    scale = number * value_range**2
    return Noise(
        cases=number,
        variance=fsum([case.count * case.within_variance * case.weight for case in varying]) / scale,
        head_variance=fsum([case.count * case.within_variance / case.head_size for case in varying]) / scale,
        weight=fsum([case.count * case.weight for case in cases]) / number,
        size=sum(case.count * case.size for case in cases) / number,
    )
