"""A share with its interval, of observations in groups that are alike within."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import NormalDist

from runevals.lib.statistics.agreement import Estimate

_Z = NormalDist().inv_cdf(0.975)


def share_of_groups(groups: Sequence[tuple[int, int]]) -> Estimate:
    """The share of all trials, with its 95 % Wilson interval, from (successes, trials) of each group.

    The interval counts as many trials as independent ones with the same variance would be (Kish's design effect),
    at least as many as there are groups, and at most all of them.
    """
    used = [(successes, trials) for successes, trials in groups if trials]
    total = sum(trials for _, trials in used)
    if not total:
        return Estimate(value=None)
    share = sum(successes for successes, _ in used) / total
    squares = fsum((successes - share * trials) ** 2 for successes, trials in used)
    spread = share * (1 - share)
    effective = spread * total * total / squares if squares and spread else len(used)
    low, high = wilson(share, min(max(effective, len(used)), total))
    return Estimate(value=share, low=low, high=high)


def wilson(share: float, trials: float, z: float = _Z) -> tuple[float, float]:
    """The two-sided Wilson interval for a share (Wilson 1927)."""
    centre = share + z * z / (2 * trials)
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    scale = 1 + z * z / trials
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
