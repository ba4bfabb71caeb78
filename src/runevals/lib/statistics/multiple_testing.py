"""Several hypotheses tested at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values, corrected by Holm's step-down rule (Holm 1979), in their own order.

    Of m sorted p-values the k-th is multiplied by m − k + 1, and none is smaller than the one before it.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    multiplied = (min(1.0, p_values[index] * (len(order) - rank)) for rank, index in enumerate(order))
    corrected = dict(zip(order, accumulate(multiplied, max), strict=True))
    return [corrected[index] for index in range(len(order))]
