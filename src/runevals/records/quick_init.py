"""Quicker ways to make the frozen records of which a run creates tens of thousands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
_UNSET = object()  # a default that is made for each record


def quick_init(record: type[T]) -> type[T]:
    """Replaces the `__init__` of a frozen, slotted dataclass without `__post_init__`: a third less time.

    The generated one looks up every field by its name (`object.__setattr__`); this one sets the slots themselves.
    """
    every: tuple[Field[Any], ...] = fields(record)  # type: ignore[arg-type]
    scope: dict[str, Any] = {"UNSET": _UNSET}
    lines = [line for field in every for line in _lines(record, field, scope)]
    positional = [_parameter(field, scope) for field in every if not field.kw_only]
    by_name = [_parameter(field, scope) for field in every if field.kw_only]
    parameters = ", ".join(["self", *positional, *(["*", *by_name] if by_name else [])])
    code = "\n ".join([f"def __init__({parameters}):", *lines])
    exec(code, scope)  # noqa: S102 - from the names of our own fields alone
    init = scope["__init__"]
    init.__qualname__ = f"{record.__qualname__}.__init__"
    record.__init__ = init  # type: ignore[method-assign]
    return record


@cache
def unfrozen(record: type) -> type:
    """A class like a frozen, slotted dataclass without `__post_init__`, of objects whose fields can be set.

    Then they are given `record` as their `__class__`: a sixth of the time of a call with twenty names.
    """
    return type(record.__name__, record.__bases__, {"__slots__": record.__slots__})  # type: ignore[attr-defined]


def _parameter(field: Field[Any], scope: dict[str, Any]) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}=UNSET"
    if field.default is MISSING:
        return field.name
    scope[f"default_{field.name}"] = field.default
    return f"{field.name}=default_{field.name}"


def _lines(record: Any, field: Field[Any], scope: dict[str, Any]) -> Iterator[str]:
    """The code that sets one field."""
    scope[f"set_{field.name}"] = getattr(record, field.name).__set__
    value = field.name
    if field.default_factory is not MISSING:
        scope[f"make_{field.name}"] = field.default_factory
        value = f"make_{field.name}() if {field.name} is UNSET else {field.name}"
    yield f"set_{field.name}(self, {value})"
