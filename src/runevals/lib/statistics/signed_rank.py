"""Wilcoxon's signed-rank test: do paired values differ more to one side than chance explains?

The differences are ranked by their size, and the sign of each is flipped; p is the share of flips that give the
positive ones a sum of ranks at least the observed one (Wilcoxon 1945, "Individual comparisons by ranking
methods"). Differences of zero are left out, as there; equal sizes share their mid-rank, and the distribution is
that of these ranks (Lehmann 1975, "Nonparametrics", chapter 3). All flips are counted while there are few pairs;
else the normal form is taken, with its variance Σr²/4, continuity and kurtosis terms. No random numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import gcd, sqrt

from msgspec import Struct

from runevals.lib.statistics.permutation_test import cumulative

EXACT_MAX_PAIRS = 100
_STEPS = 10**12  # to one; sizes that are equal so far are equal

Ranks = Sequence[tuple[int, int]]  # twice the mid-rank of a size, which is whole, and how many pairs have it


class SignedRankTest(Struct, frozen=True, kw_only=True):
    """The result of the test."""

    pairs: int  # with different values
    rise_p_value: float  # one-sided: that the differences are positive
    exact: bool


def signed_rank_test(differences: Sequence[float]) -> SignedRankTest:
    """Tests paired differences, one a pair, each an independent one."""
    steps = [round(difference * _STEPS) for difference in differences]
    sizes = Counter(map(abs, steps))
    del sizes[0]
    rank_of: dict[int, int] = {}
    below = 0
    for size in sorted(sizes):
        rank_of[size] = 2 * below + sizes[size] + 1
        below += sizes[size]
    ranks = [(rank, sizes[size]) for size, rank in rank_of.items()]
    observed = sum([rank_of[difference] for difference in steps if difference > 0])
    exact = below <= EXACT_MAX_PAIRS
    rise = (_exact_p_value if exact else _normal)(ranks, observed, gcd(*rank_of.values()) or 1)
    return SignedRankTest(pairs=below, rise_p_value=rise, exact=exact)


def _exact_p_value(ranks: Ranks, observed: int, step: int) -> float:
    """p by counting all flips; all ranks are multiples of `step`.

    Each pair is a polynomial 1 + x^rank; they are multiplied as big integers, one coefficient in each field of
    `bits` bits (Kronecker substitution).
    """
    pairs = sum(count for _, count in ranks)
    bits, product = pairs + 2, 1
    for rank, count in ranks:
        for _ in range(count):
            product += product << (bits * rank // step)
    field_sum = (1 << bits) - 1  # a number is congruent to the sum of its fields modulo this
    return (product >> (bits * observed // step)) % field_sum / (1 << pairs)


def _normal(ranks: Ranks, observed: int, step: int) -> float:
    """p from the moments of the flips' distribution, which is symmetric."""
    mean = sum([rank * count for rank, count in ranks]) / 2
    variance = sum([rank**2 * count for rank, count in ranks]) / 4
    kurtosis = -sum([rank**4 * count for rank, count in ranks]) / 8 / variance**2
    return cumulative((step / 2 - (observed - mean)) / sqrt(variance), 0.0, kurtosis)
