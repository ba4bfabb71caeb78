"""What a comparison can see, what it would take to see more, and whether another run would agree."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from math import sqrt
from statistics import NormalDist

from msgspec import Struct
from msgspec.structs import replace

POWER = 0.9
MOST_CASES = 100_000
MOST_REPEATS = 100
_NORMAL = NormalDist()


class Noise(Struct, frozen=True, kw_only=True):
    """How much the difference of a suite's means varies when nothing changed; values on the range 0–1."""

    cases: int
    variance: float  # of one case's difference of means, averaged over the cases
    head_variance: float  # of one case's head mean, averaged
    weight: float  # 1/kb + 1/kh with kb base and kh head values, averaged
    size: float  # values a case, averaged

    def detectable_drop(self, alpha: float) -> float:
        """The drop seen with 90 % chance at p ≤ alpha, at most 1.

        Solves d = zα·sqrt(se² + d/(n(N−1))) + zβ·se + (1/kb+1/kh)/(2n), a quadratic, with n cases of N values.
        """
        z_alpha, z_power = _NORMAL.inv_cdf(1 - alpha), _NORMAL.inv_cdf(POWER)
        squared = self.variance / self.cases
        fixed = z_power * sqrt(squared) + self.weight / (2 * self.cases)
        of_drop = z_alpha**2 / (self.cases * (self.size - 1.0)) / 2
        return min(1.0, fixed + of_drop + sqrt(of_drop * (of_drop + 2 * fixed) + z_alpha**2 * squared))

    def cases_for(self, drop: float, alpha: float) -> int | None:
        """The number of such cases needed to detect `drop`; None beyond 100 000."""

        def detectable(cases: int) -> float:
            return replace(self, cases=cases).detectable_drop(alpha)

        return _smallest(detectable, drop, self.cases, MOST_CASES)

    def repeats_for(self, drop: float, alpha: float) -> int | None:
        """How many runs a case and side would show `drop`; None beyond 100."""

        def detectable(repeats: int) -> float:
            weight = 2.0 / repeats
            variance = self.variance * weight / self.weight
            return replace(self, variance=variance, weight=weight, size=2.0 * repeats).detectable_drop(alpha)

        return _smallest(detectable, drop, 1, MOST_REPEATS)

    def agreement(self, drop: float, alpha: float) -> float:
        """The probability that an identical run of the head fails again: Φ((drop − zα·se)/(√2·se of the head))."""
        margin = drop - _NORMAL.inv_cdf(1 - alpha) * sqrt(self.variance / self.cases)
        spread = sqrt(2 * self.head_variance / self.cases)
        if spread == 0:
            return 1.0 if margin >= 0 else 0.0
        return _NORMAL.cdf(margin / spread)


def _smallest(detectable: Callable[[int], float], drop: float, low: int, high: int) -> int | None:
    """The smallest number from `low` to `high` at which `detectable` is at most `drop`; `detectable` falls."""
    number = low + bisect_left(range(low, high + 1), -drop, key=lambda each: -detectable(each))
    return number if number <= high else None
