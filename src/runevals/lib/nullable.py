"""Values that may be unknown, and sums of such amounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import fsum
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def if_known(value: T | None, show: Callable[[T], R]) -> R | None:
    """What `show` makes of a value; None for one that is unknown."""
    return None if value is None else show(value)


def total(amounts: Iterable[float | None]) -> float | None:
    """Their sum, independent of the order; unknown if one of them is, or if there are none."""
    every = list(amounts)
    known = [amount for amount in every if amount is not None]
    return fsum(known) if known and len(known) == len(every) else None


def whole_total(amounts: Iterable[float | None]) -> int | None:
    """The sum of whole numbers."""
    return if_known(total(amounts), int)


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the known values; None if there is none."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None
