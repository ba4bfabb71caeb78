"""Records → JSON text, a value a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from json.encoder import encode_basestring
from math import isfinite
from operator import attrgetter
from typing import Any

from runevals.records import (
    AgainstComparison,
    AttemptReport,
    CaseReport,
    CheckResult,
    PreparedJson,
    Totals,
    prepared_json,
)

Write = Callable[[Any, str], str]

CASE = "\n  "  # what the lines of a case begin with

# What a document says of a record beside its fields.
_DERIVED: Mapping[type, tuple[str, ...]] = {
    CheckResult: ("passed",),
    AttemptReport: ("share",),
    CaseReport: ("share", "flaky", "tripped"),
    Totals: ("share",),
    AgainstComparison: ("gain",),
}


def json_text(value: Any, newline: str = "\n") -> str:
    """As `json.dumps(value, ensure_ascii=False, indent=1)`, whose quick form does not indent; of records, too.

    `newline` is what a line begins with after its break, the break included.
    """
    return _writer(type(value))(value, newline)  # type: ignore[arg-type] # every type can be hashed


def fields_of(record: Any) -> dict[str, object]:
    """What a document says of `record`, by name."""
    return {name: getattr(record, name) for name in _names(type(record))}  # type: ignore[arg-type]


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return (*(field.name for field in fields(kind)), *_DERIVED.get(kind, ()))


@cache
def _writer(kind: Any) -> Write:
    """How values of a type are written. The order matters: some are of several."""
    if is_dataclass(kind):
        return _record_writer(kind)
    if issubclass(kind, Enum):
        return lambda value, newline: json_text(value.value, newline)
    for base, write in _WRITERS.items():
        if issubclass(kind, base):
            return write
    return lambda value, _: json.dumps(value)


def _record_writer(kind: Any) -> Write:
    names = _names(kind)
    keys = [f"{encode_basestring(name)}: %s" for name in names]
    values_of = attrgetter(*names) if len(names) > 1 else lambda record: [getattr(record, name) for name in names]

    @cache
    def layout(newline: str) -> str:
        inner = newline + " "
        return f"{{{inner}{(',' + inner).join(keys)}{newline}}}"

    def write(record: object, newline: str) -> str:
        inner = newline + " "
        texts = [
            "null"
            if value is None
            else encode_basestring(value)
            if type(value) is str
            else json_text(value, inner)
            for value in values_of(record)
        ]
        return layout(newline) % tuple(texts)

    def write_or_read(record: PreparedJson, newline: str) -> str:
        known = prepared_json(record, newline)
        return write(record, newline) if known is None else known

    return write_or_read if issubclass(kind, PreparedJson) else write


def _mapping(value: Mapping[str, object], newline: str) -> str:
    if not value:
        return "{}"
    inner = newline + " "
    items = [f"{encode_basestring(key)}: {json_text(item, inner)}" for key, item in value.items()]
    return f"{{{inner}{(',' + inner).join(items)}{newline}}}"


def _sequence(value: list[object] | tuple[object, ...], newline: str) -> str:
    if not value:
        return "[]"
    inner = newline + " "
    return f"[{inner}{(',' + inner).join([json_text(item, inner) for item in value])}{newline}]"


def _float(value: float, _: str) -> str:
    return float.__repr__(value) if isfinite(value) else json.dumps(value)


def _moment(value: datetime, _: str) -> str:
    return encode_basestring(value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"))


_WRITERS: dict[type, Write] = {
    str: lambda value, _: encode_basestring(value),
    type(None): lambda _value, _newline: "null",
    bool: lambda value, _: "true" if value else "false",
    int: lambda value, _: int.__repr__(value),
    float: _float,
    datetime: _moment,
    list: _sequence,
    tuple: _sequence,
    Mapping: _mapping,
}
