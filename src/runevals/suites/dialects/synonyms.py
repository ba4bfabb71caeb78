"""Values that stand under one of several names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

from runevals.lib.parsing.shapes import is_whole


def first_of(entry: Mapping[str, Any], names: Iterable[str], is_usable: Callable[[Any], bool]) -> Any:
    """The first value under these names that can be used; None if there is none."""
    return next(filter(is_usable, map(entry.get, names)), None)


def is_string(value: object) -> bool:
    """Whether it is text, which may be empty."""
    return isinstance(value, str)


def is_text(value: object) -> TypeGuard[str]:
    """Whether it is text that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def is_id(value: object) -> bool:
    """Whether it names a case or a check: text that is not blank, or a whole number."""
    return is_text(value) or is_whole(value)
