"""Values that may be unknown: what is made of one, and sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import fsum
from typing import TypeVar

V = TypeVar("V")
R = TypeVar("R")


def if_known(function: Callable[[V], R], value: V | None) -> R | None:
    """What the function makes of a value; None for None."""
    return None if value is None else function(value)


def total(amounts: Iterable[float | None]) -> float | None:
    """Their sum, independent of the order; unknown if one of them is, or if there are none."""
    every = list(amounts)
    known = [amount for amount in every if amount is not None]
    return fsum(known) if known and len(known) == len(every) else None


def whole_total(amounts: Iterable[float | None]) -> int | None:
    """The sum of whole numbers."""
    return if_known(int, total(amounts))


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the known values; None if there is none."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None
