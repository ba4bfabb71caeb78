"""Values that may be unknown: what is made of one, and sums; and values by their keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from math import fsum
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
R = TypeVar("R")


def if_known(function: Callable[[V], R], value: V | None) -> R | None:
    """What the function makes of a value; None for None."""
    return None if value is None else function(value)


def known(values: Iterable[V | None]) -> list[V]:
    """The values, without None."""
    return [value for value in values if value is not None]


def total(amounts: Iterable[float | None]) -> float | None:
    """Their sum, independent of the order; unknown if one of them is, or if there are none."""
    every = list(amounts)
    return fsum(known(every)) if every and None not in every else None


def whole_total(amounts: Iterable[float | None]) -> int | None:
    """The sum of whole numbers."""
    return if_known(int, total(amounts))


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the known values; None if there is none."""
    numbers = known(values)
    return fsum(numbers) / len(numbers) if numbers else None


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Each key with all its values, both in order."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def distinct(names: Iterable[str]) -> list[str]:
    """The names; the second one that is alike ends in " (2)", and so on."""
    counts: Counter[str] = Counter()
    unique = []
    for name in names:
        counts[name] += 1
        unique.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return unique


def without(fields: Mapping[K, V], names: Container[object]) -> dict[K, V]:
    """The fields whose names are others."""
    return {name: value for name, value in fields.items() if name not in names}


def without_none(**fields: V | None) -> dict[str, V]:
    """The fields that are known."""
    return {name: value for name, value in fields.items() if value is not None}
