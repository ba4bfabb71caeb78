"""Records → JSON text: a value a line, or a case a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any

from runevals.records import (
    AgainstComparison,
    AttemptReport,
    CaseReport,
    CheckResult,
    GateResult,
    Totals,
    TurnReport,
    prepared_json,
)

# What a document says of a record beside its fields.
DERIVED: Mapping[type, tuple[str, ...]] = {
    CheckResult: ("passed",),
    AttemptReport: ("share",),
    CaseReport: ("share", "flaky", "tripped"),
    Totals: ("share",),
    AgainstComparison: ("gain", "not_worse"),
}
# What a document leaves out if it has its default: most cases have nothing there.
LEFT_OUT: Mapping[type, frozenset[str]] = {
    CheckResult: frozenset({
        "scale", "threshold", "weight", "negated", "details", "error", "judge_model", "cost_usd", "cached",
    }),
    TurnReport: frozenset({
        "context", "input_tokens", "output_tokens", "citations", "model", "value", "raised", "delivery",
        "reasoning_tokens", "session", "refused", "workspace", "conversation",
    }),
    CaseReport: frozenset({
        "group", "fetched", "quarantined", "labels", "tripwire", "normalised_fingerprint", "notes", "copies",
        "tripped",
    }),
    GateResult: frozenset({"undecided"}),
}  # fmt: skip


def json_text(value: Any) -> str:
    """JSON of a value with records in it, a value a line."""
    return _strict(_BY_LINE, value)


def case_line(case: CaseReport) -> str:
    """JSON of a case, in one line; what was prepared, if it was."""
    known = prepared_json(case)
    return _strict(_LINE, case) if known is None else known


def _strict(encode: Callable[[Any], str], value: Any) -> str:
    """JSON of `value`. A number that is not finite, which JSON does not have, is null."""
    try:
        return encode(value)
    except ValueError:
        with_constants = json.dumps(value, default=_plain)
        return encode(json.loads(with_constants, parse_constant=lambda _: None))


def fields_of(record: Any) -> dict[str, object]:
    """What a document says of `record`, by name."""
    return _reader(type(record))(record)  # type: ignore[arg-type] # every type can be hashed


@cache
def _reader(kind: Any) -> Callable[[Any], dict[str, object]]:
    """A function for one type of record, compiled from its fields."""
    names = (*(field.name for field in fields(kind)), *DERIVED.get(kind, ()))
    left_out = LEFT_OUT.get(kind, frozenset())
    defaults = {field.name: _default(field) for field in fields(kind)}
    scope: dict[str, Any] = {f"{name}_default": defaults.get(name) for name in left_out}
    always = ", ".join(f"{name!r}: record.{name}" for name in names if name not in left_out)
    lines = ["def read(record):", f" return {{{always}}}"]
    if left_out:
        lines[1:] = [" document = {}", *(f" {line}" for name in names for line in _lines(name, name in left_out))]
        lines.append(" return document")
    exec("\n".join(lines), scope)  # noqa: S102 - from the names of our own fields alone
    read: Callable[[Any], dict[str, object]] = scope["read"]
    return read


def _lines(name: str, may_be_left_out: bool) -> tuple[str, ...]:  # noqa: FBT001
    """Puts one field into the document."""
    if not may_be_left_out:
        return (f"document[{name!r}] = record.{name}",)
    default = f"{name}_default"
    return (
        f"value = record.{name}",
        f"if value is not {default} and value != {default}: document[{name!r}] = value",
    )


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _plain(value: Any) -> object:
    """What `json` cannot write itself. Raises TypeError for what is none of our values."""
    if is_dataclass(value):
        return fields_of(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


_BY_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1, default=_plain).encode
_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain).encode
