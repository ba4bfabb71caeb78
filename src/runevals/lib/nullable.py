"""Sums of amounts that may be unknown."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum


def total(amounts: Iterable[float | None]) -> float | None:
    """Their sum, independent of the order; unknown if one of them is, or if there are none."""
    every = list(amounts)
    known = [amount for amount in every if amount is not None]
    return fsum(known) if known and len(known) == len(every) else None


def whole_total(amounts: Iterable[float | None]) -> int | None:
    """The sum of whole numbers."""
    result = total(amounts)
    return None if result is None else int(result)


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the known values; None if there is none."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None
