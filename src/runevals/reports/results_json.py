"""Records → JSON text: a value a line, or a case a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any

from runevals.records import (
    AgainstComparison,
    AttemptReport,
    CaseReport,
    CheckResult,
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
}  # fmt: skip
_NO_DEFAULT = object()


def json_text(value: Any) -> str:
    """JSON of a value with records in it, a value a line."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=_plain)


def case_line(case: CaseReport) -> str:
    """JSON of a case, in one line; what was prepared, if it was."""
    known = prepared_json(case)
    return _LINE(case) if known is None else known


def fields_of(record: Any) -> dict[str, object]:
    """What a document says of `record`, by name."""
    names, values_of, defaults = _layout(type(record))  # type: ignore[arg-type] # every type can be hashed
    if defaults is None:
        return dict(zip(names, values_of(record), strict=True))
    fields = zip(names, values_of(record), defaults, strict=True)
    return {name: value for name, value, default in fields if value != default}


@cache
def _layout(kind: Any) -> tuple[tuple[str, ...], Any, tuple[object, ...] | None]:
    """The names that a record has in a document, what reads their values, and the values that are left out."""
    names = (*(field.name for field in fields(kind)), *DERIVED.get(kind, ()))
    values_of = attrgetter(*names) if len(names) > 1 else lambda record: (getattr(record, names[0]),)
    if kind not in LEFT_OUT:
        return names, values_of, None
    own = {field.name: _default(field) for field in fields(kind)}
    return names, values_of, tuple(own.get(name) if name in LEFT_OUT[kind] else _NO_DEFAULT for name in names)


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


_LINE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain).encode
