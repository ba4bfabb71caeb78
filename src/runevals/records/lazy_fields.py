"""Record fields whose values may be stored outside memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, NoReturn, TypeVar, cast

from runevals.records.quick_dataclass import restored, slots_of

T = TypeVar("T")


class _Nothing(dict[str, Any]):
    """A mapping without entries, to which none can be added."""

    __slots__ = ()

    def __setitem__(self, *_: object) -> NoReturn:
        raise TypeError("this mapping is shared and stays empty; make a copy of it")

    update = setdefault = __ior__ = __setitem__  # type: ignore[assignment]


NOTHING: Mapping[str, Any] = _Nothing()  # one for all records: most have no entries in most of their mappings


def nothing() -> Mapping[str, Any]:
    """For `default_factory`."""
    return NOTHING


class StoredValue:
    """A placeholder in a record for a value stored elsewhere; reading the field returns the value."""

    __slots__ = ()

    def read(self) -> Any:
        """The value."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        return _read, (self.read(),)  # whoever gets a copy has it in memory


def _read(value: Any) -> Any:
    return value


class Derived:
    """A record that may carry a value computed from its fields. A changed copy has none."""

    __slots__ = ("_derived",)


WAS_DERIVED = object()  # in place of the value: it could be computed, and can be again


def attach_derived(record: Derived, value: object) -> None:
    """Attaches what was computed from `record`."""
    object.__setattr__(record, "_derived", value)


def derived_of(record: Derived) -> Any:
    """The attached value, None if there is none."""
    return getattr(record, "_derived", None)


class PreparedJson:
    """A record whose JSON may be written before its document. A changed copy has no prepared JSON."""

    __slots__ = ("_text",)


def attach_json(record: PreparedJson, text: StoredValue) -> None:
    """Attaches the JSON of `record`."""
    object.__setattr__(record, "_text", text)


def prepared_json(record: PreparedJson) -> str | None:
    """The attached JSON, None if there is none."""
    text = getattr(record, "_text", None)
    return None if text is None else text.read()


class _Field(property):
    """A field of a record: a value that is stored elsewhere is read at each access."""

    def __init__(self, slot: Any) -> None:
        raw = slot.__get__

        def read(record: object) -> Any:
            value = raw(record)
            return value.read() if isinstance(value, StoredValue) else value

        super().__init__(read, slot.__set__)  # both are called from C, at each access and each new record
        self.raw = raw


def large(*names: str) -> Callable[[type[T]], type[T]]:
    """Marks the fields of a slotted dataclass that may be stored elsewhere, because their values can be large."""

    def with_lazy_fields(record: type[T]) -> type[T]:
        for name in names:
            setattr(record, name, _Field(getattr(record, name)))
        return record

    return with_lazy_fields


def raw_value(record: object, name: str) -> Any:
    """What is in a marked field: the value, or a StoredValue."""
    return vars(type(record))[name].raw(record)


def offload(record: T, move: Callable[[Any], Any]) -> T:
    """`record` with the values of its marked fields that are in memory replaced by what `move` returns."""
    return _with_values(record, lambda value: value if isinstance(value, StoredValue) else move(value))


def in_memory(record: T) -> T:
    """`record` with every value that is stored elsewhere read."""
    return _with_values(record, lambda value: value.read() if isinstance(value, StoredValue) else value)


def _with_values(record: T, new: Callable[[Any], Any]) -> T:
    values, is_changed = list(slots_of(record)), False
    for index in _lazy_fields(cast("Any", type(record))):
        if (value := new(values[index])) is not values[index]:
            values[index], is_changed = value, True
    return cast("T", restored(type(record), *values)) if is_changed else record


@cache
def _lazy_fields(record: Any) -> tuple[int, ...]:
    """The positions of these fields among all."""
    return tuple(
        index for index, field in enumerate(fields(record)) if isinstance(getattr(record, field.name), _Field)
    )
