"""Values of unknown shape: one of another shape than is wanted holds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def object_in(value: object) -> Mapping[str, Any]:
    """An object; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def list_in(value: object) -> list[Any]:
    """A list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def objects_in(value: object) -> list[dict[str, Any]]:
    """The objects in a list; none for anything else."""
    return [one for one in list_in(value) if isinstance(one, dict)]


def text_in(value: object) -> str:
    """A text; an empty one for anything else."""
    return value if isinstance(value, str) else ""


def texts_in(value: object) -> list[str]:
    """The texts in a list; none for anything else."""
    return [one for one in list_in(value) if isinstance(one, str)]


def options_by_name(value: object) -> dict[str, Mapping[str, Any]]:
    """Names with their options, or a list of these and of names alone; options of another shape are none."""
    entries: dict[str, Any] = {}
    for one in entries_of(value):
        entries |= one if isinstance(one, Mapping) else dict.fromkeys(texts_in([one]))
    return {name: object_in(options) for name, options in entries.items()}


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a number that is written without a fraction."""
    return isinstance(value, int) and not isinstance(value, bool)


def entries_of(value: object) -> list[Any]:
    """The entries of a list; anything else as the only one."""
    return value if isinstance(value, list) else [value]


def is_subset(part: object, whole: object) -> bool:
    """Whether all of a JSON value is in another, at any depth; lists are as long, and true is not 1."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and is_subset(value, whole[key]) for key, value in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(is_subset, part, whole))
    return isinstance(part, bool) is isinstance(whole, bool) and part == whole
