"""A case of a results document → its record, if it is written exactly as we write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache
from math import isfinite
from sys import intern
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from runevals.lib.parsing.schema import schema
from runevals.records import AttemptReport, CaseReport, CheckResult, Layers, TurnReport
from runevals.records.quick_dataclass import unfrozen
from runevals.reports.results_json import DERIVED

LARGEST = 1e100  # number: sums and squares of such are numbers too

_PARTS: Mapping[type, str] = {
    CaseReport: "case",
    AttemptReport: "attempt",
    TurnReport: "turn",
    CheckResult: "result",
    Layers: "layers",
}
# What the schema requires beside types.
_RULES: Mapping[type, str] = {
    CaseReport: "len(attempts) > 0",
    AttemptReport: "attempt >= 1",
    CheckResult: "weight > 0 and len(scale) == 2",
}
# What many records of a document have in common is in memory once.
_SHARED_TEXTS = frozenset({"suite", "file", "id", "evaluator", "model", "judge_model", "category"})
_SHARED_NUMBERS = {number: number for number in (0.25, 0.5, 0.75, 1.0, 2.0, 3.0, 4.0, 5.0)}
_SHARED_RECORDS: Mapping[type, Callable[..., object]] = {Layers: lru_cache(1024)(Layers)}
_DERIVED_TYPES: Mapping[str, object] = {
    "passed": bool,
    "share": float | None,
    "flaky": bool,
    "tripped": bool | None,
}


def read_case(document: object) -> CaseReport:
    """The record, as the schema and a converter make it, in a tenth of the time.

    Raises ValueError, KeyError or TypeError for anything else, which is not necessarily wrong.
    """
    case: CaseReport = _reader(CaseReport)(document)
    return case


@cache
def _reader(record: Any) -> Callable[[object], Any]:
    """A function for one type of record, compiled from its fields."""
    scope = _scope(record=_SHARED_RECORDS.get(record, record))
    code = "\n ".join(["def read(document):", *_lines(record, scope)])
    exec(code, scope)  # noqa: S102 - from the names and types of our own fields alone
    read: Callable[[object], Any] = scope["read"]
    return read


def _scope(**names: object) -> dict[str, Any]:
    """What compiled code refers to."""
    return {"LARGEST": LARGEST, "intern": intern, "shared": _SHARED_NUMBERS.get, **names}


def _lines(record: Any, scope: dict[str, Any]) -> Iterator[str]:
    hints = get_type_hints(record)
    required = (
        schema("runevals.reports", "results-1")["$defs"][_PARTS[record]]["required"] if record in _PARTS else ()
    )
    yield "if type(document) is not dict: raise ValueError"
    for name in DERIVED.get(record, ()):
        yield from _value_lines(name, _DERIVED_TYPES[name], name in required, None, scope)
    for field in fields(record):
        default = _default(field)
        scope[f"{field.name}_default"] = default
        is_required = default is MISSING or field.name in required
        yield from _value_lines(field.name, hints[field.name], is_required, f"{field.name}_default", scope)
    if record in _RULES:
        yield f"if not ({_RULES[record]}): raise ValueError"
    if record in _SHARED_RECORDS:
        yield f"return record({', '.join(f'{field.name}={field.name}' for field in fields(record))})"
        return
    scope["unfrozen"] = unfrozen(record)
    yield "_new = unfrozen()"
    yield from (f"_new.{field.name} = {field.name}" for field in fields(record))
    yield "_new.__class__ = record"
    yield "return _new"


def _value_lines(
    name: str,
    hint: object,
    is_required: bool,  # noqa: FBT001
    default: str | None,
    scope: dict[str, Any],
) -> Iterator[str]:
    """Reads one key into a variable of its name, with the default's name for one that may be absent."""
    lines = list(_checks(name, hint, scope))
    if is_required:
        yield f"{name} = document['{name}']"
        yield from lines
        return
    yield f"if '{name}' in document:"
    yield f" {name} = document['{name}']"
    yield from (f" {line}" for line in lines)
    yield f"else: {name} = {default}"


def _checks(name: str, hint: Any, scope: dict[str, Any]) -> Iterator[str]:
    """Lines that turn the JSON in a variable into a value of this type, or raise."""
    arguments = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        (inner,) = [argument for argument in arguments if argument is not NoneType]
        yield f"if {name} is not None:"
        yield from (f" {line}" for line in _checks(name, inner, scope))
    elif hint in (str, bool):
        yield f"if type({name}) is not {hint.__name__}: raise ValueError"
        if name in _SHARED_TEXTS:
            yield f"{name} = intern({name})"
    elif hint is int:
        yield f"if type({name}) is not int or not -LARGEST <= {name} <= LARGEST: raise ValueError"
    elif hint is float:
        yield f"if type({name}) is not float:"
        yield f" if type({name}) is not int or not -LARGEST <= {name} <= LARGEST: raise ValueError"
        yield f" {name} = float({name})"
        yield f"elif not -LARGEST <= {name} <= LARGEST: raise ValueError"
        yield f"{name} = shared({name}, {name})"
    elif hint is object:
        scope["require_finite"] = _require_finite
        yield f"if type({name}) is not str: require_finite({name})"
    elif get_origin(hint) is Literal:
        yield f"if {name} not in {arguments!r}: raise ValueError"
    elif get_origin(hint) is tuple and arguments[-1] is ...:
        scope[f"{name}_item"] = _item_reader(arguments[0])
        yield f"if type({name}) is not list: raise ValueError"
        yield f"{name} = tuple([{name}_item(item) for item in {name}]) if {name} else ()"
    elif get_origin(hint) is tuple:
        scope[f"{name}_items"] = [_item_reader(argument) for argument in arguments]
        yield f"if type({name}) is not list or len({name}) != {len(arguments)}: raise ValueError"
        yield f"{name} = tuple([read(item) for read, item in zip({name}_items, {name})])"
    elif get_origin(hint) is not None and issubclass(get_origin(hint), Mapping):
        scope[f"{name}_item"] = _item_reader(arguments[1])
        yield f"if type({name}) is not dict: raise ValueError"
        yield f"{name} = {{key: {name}_item(item) for key, item in {name}.items()}}"
    else:
        scope[f"{name}_item"] = _item_reader(hint)
        yield f"{name} = {name}_item({name})"


@cache
def _item_reader(hint: Any) -> Callable[[Any], Any]:
    """A function for a value of this type."""
    if isinstance(hint, type) and is_dataclass(hint):
        return _reader(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        members = {member.value: member for member in hint}
        return members.__getitem__
    scope = _scope()
    code = "\n ".join(["def read(value):", *_checks("value", hint, scope), "return value"])
    exec(code, scope)  # noqa: S102 - from a type
    read: Callable[[Any], Any] = scope["read"]
    return read


def _require_finite(value: object) -> None:
    """Raises ValueError for JSON with a number that is too large for one."""
    if isinstance(value, float) and not isfinite(value):
        raise ValueError
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _require_finite(item)


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()
