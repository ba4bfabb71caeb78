"""Agreement of raters, with intervals."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from statistics import StatisticsError, correlation, fmean

from msgspec import Struct

RESAMPLES = 1000
_SEED = 20260101  # the same ratings always give the same interval

Ratings = Sequence[float]
Pairs = Sequence[tuple[float, float]]


class Estimate(Struct, frozen=True, kw_only=True):
    """A figure with its 95 % interval; None if the ratings do not settle it."""

    value: float | None
    low: float | None = None
    high: float | None = None


def krippendorff_alpha(units: Iterable[Ratings]) -> float | None:
    """Krippendorff's alpha for ordinal ratings, at most 1; 0 is what chance gives.

    A unit holds the ratings of one thing, as many as were made; those with fewer than two are ignored. None if
    nothing differs. The ordinal distance of two ratings is that of their mid-ranks, squared (Krippendorff 2011,
    "Computing Krippendorff's alpha-reliability", section E).
    """
    pairable = [unit for unit in units if len(unit) >= 2]
    counts = Counter(rating for unit in pairable for rating in unit)
    ranks, below = {}, 0
    for rating, count in sorted(counts.items()):
        ranks[rating] = below + count / 2
        below += count
    ranked = [[ranks[rating] for rating in unit] for unit in pairable]
    expected = _differences([rank for unit in ranked for rank in unit])
    if not expected:
        return None
    return 1.0 - (below - 1) * fsum(_differences(unit) / (len(unit) - 1) for unit in ranked) / expected


def weighted_kappa(pairs: Pairs) -> float | None:
    """Cohen's kappa of two raters with quadratic weights, at most 1; None if nothing differs.

    1 − observed / expected squared difference (Cohen 1968).
    """
    if not pairs:
        return None
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    observed = fsum((a - b) ** 2 for a, b in pairs) / len(pairs)
    shift = fmean(first) - fmean(second)
    expected = _variance(first) + _variance(second) + shift * shift
    return 1.0 - observed / expected if expected else None


def pearson(pairs: Pairs) -> float | None:
    """Pearson's correlation, −1 to 1; None if either side does not vary."""
    try:
        return correlation([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    except StatisticsError:
        return None


def mean_shift(pairs: Pairs) -> float | None:
    """How much higher the second rates on average, on the ratings' own scale."""
    return fmean([b - a for a, b in pairs]) if pairs else None


def estimate(pairs: Pairs, statistic: Callable[[Pairs], float | None]) -> Estimate:
    """`statistic` of the pairs, with its percentile bootstrap interval over resampled pairs.

    No interval where fewer than nine of ten resamples settle the figure.
    """
    generator = random.Random(_SEED)  # noqa: S311 - resampling, no secret
    draws = (statistic(generator.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES if pairs else 0))
    values, value = sorted(draw for draw in draws if draw is not None), statistic(pairs)
    if value is None or len(values) < 0.9 * RESAMPLES:
        return Estimate(value=value)
    tail = int(0.025 * len(values))
    return Estimate(value=value, low=values[tail], high=values[-1 - tail])


def _differences(values: Ratings) -> float:
    """Σ (a − b)² over all ordered pairs."""
    mean = fmean(values) if values else 0.0
    return 2.0 * len(values) * fsum((value - mean) ** 2 for value in values)


def _variance(values: Ratings) -> float:
    mean = fmean(values)
    return fsum((value - mean) ** 2 for value in values) / len(values)
