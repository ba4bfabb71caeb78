"""Values that a record need not hold in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Kept:
    """Stands in a record for a value that is kept elsewhere; who reads the record gets the value."""

    __slots__ = ()

    def read(self) -> Any:
        """The value."""
        raise NotImplementedError


class Texted:
    """A record whose JSON may be made before the document that it stands in. A changed copy of it has none."""

    __slots__ = ("_text",)


def keep_text(record: Texted, newline: str, text: Kept) -> None:
    """`text` is what `record` is in a document, where lines begin with `newline`."""
    object.__setattr__(record, "_text", (newline, text))


def kept_text(record: Texted, newline: str) -> str | None:
    """That text, None where it was not made or would stand elsewhere."""
    made_for, text = getattr(record, "_text", ("", None))
    return None if text is None or made_for != newline else text.read()


class _Field:
    """A field of a record: a value that is kept elsewhere is read each time it is asked for."""

    def __init__(self, slot: Any) -> None:
        self._slot = slot

    def __get__(self, record: object, kind: type | None = None) -> Any:
        if record is None:
            return self
        value = self._slot.__get__(record, kind)
        return value.read() if isinstance(value, Kept) else value

    def __set__(self, record: object, value: object) -> None:
        self._slot.__set__(record, value)


def large(*names: str) -> Callable[[type[T]], type[T]]:
    """Marks the fields of a slotted dataclass that may be kept elsewhere, as their values can be of any size."""

    def marked(record: type[T]) -> type[T]:
        for name in names:
            setattr(record, name, _Field(getattr(record, name)))
        return record

    return marked


def moved(record: T, move: Callable[[Any], Any]) -> T:
    """`record` with the values of the fields so marked as `move` returns them."""
    kind: Any = type(record)
    changes = {name: made for name in _marked(kind) if (made := move(value := getattr(record, name))) is not value}
    return cast("T", replace(cast("Any", record), **changes)) if changes else record


@cache
def _marked(record: Any) -> tuple[str, ...]:
    return tuple(name for name, field in vars(record).items() if isinstance(field, _Field))
