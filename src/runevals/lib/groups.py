"""Values by their keys: grouped, told apart, and only those that are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


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


def without_none(**fields: V | None) -> dict[str, V]:
    """The fields that are known."""
    return {name: value for name, value in fields.items() if value is not None}
