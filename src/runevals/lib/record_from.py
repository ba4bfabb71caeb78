"""Records made from others that have fields of the same names and meanings."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from msgspec import Struct

R = TypeVar("R", bound=Struct)


def record_from(kind: type[R], record: Struct, **more: Any) -> R:
    """A record of this kind with what `record` has of its fields, and `more`."""
    return kind(**{name: getattr(record, name) for name in _shared(kind, type(record))} | more)


@cache
def _shared(kind: type[Struct], other: type[Struct]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name in other.__struct_fields__)
