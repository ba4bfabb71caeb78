"""A share with its interval, of observations in groups that are alike within."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import fsum, sqrt
from statistics import NormalDist, fmean, quantiles, variance

from runevals.lib.statistics.agreement import Estimate

_Z = NormalDist().inv_cdf(0.975)
_LEAST_WEIGHT = 0.05  # a + b of a Beta distribution


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


def share_of_a_group(shares: Sequence[float], trials: int) -> tuple[float, float]:
    """The 90 % interval of what one more group would show in very many trials, from groups of so many trials.

    The shares of groups follow a Beta distribution. The variance between them is what is left of the variance of
    `shares` without what chance within a group adds, and half its standard error more, as it is estimated itself.
    """
    total = len(shares) * trials
    share = (fmean(shares) * total + 0.5) / (total + 1)
    spread, of_shares = share * (1 - share), variance(shares)
    within = fmean(each * (1 - each) for each in shares) / (trials - 1)
    between = max(0.0, of_shares - within + of_shares / sqrt(2 * (len(shares) - 1)))
    weight = max(spread / (between + max(of_shares / len(shares), spread / total)) - 1, _LEAST_WEIGHT)
    rng = random.Random(1)  # noqa: S311 - no secret
    low, *_, high = quantiles((rng.betavariate(share * weight, (1 - share) * weight) for _ in range(1000)), n=20)
    return low, high


def wilson(share: float, trials: float, z: float = _Z) -> tuple[float, float]:
    """The two-sided Wilson interval for a share (Wilson 1927)."""
    centre = share + z * z / (2 * trials)
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    scale = 1 + z * z / trials
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
