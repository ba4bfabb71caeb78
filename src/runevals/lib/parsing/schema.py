"""A JSON Schema's complaints, in words that name the key, the place and the nearest right word."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from functools import cache, reduce
from importlib.resources import files
from operator import getitem
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from runevals.lib.parsing.limits import LIMITS
from runevals.lib.parsing.shapes import object_in
from runevals.lib.text.suggest import did_you_mean

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

MOST_KNOWN_KEYS = 8  # known keys
AT_ONCE = 10  # entries of a list that are looked at together: a problem takes time by the size of all of them

JsonPath = tuple[str | int, ...]
T = TypeVar("T")


class Complaint(Struct, frozen=True, kw_only=True):
    """A violation of a schema; `key`: an unknown key, whose path it is."""

    json_path: JsonPath
    message: str
    key: bool = False

    @property
    def rule(self) -> str:
        """The rule of a suite's problem that it is."""
        return "unknown-key" if self.key else "schema"


@cache
def schema(package: str, name: str) -> dict[str, Any]:
    """A schema that we ship: `schema("runevals.suites.dialects", "rows")`."""
    text = files(package).joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


@cache
def _validator(package: str, name: str) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator  # 15 ms that `--version` need not pay

    return Draft202012Validator(schema(package, name))


def complaints(package: str, name: str, document: object) -> Iterator[Complaint]:
    """Everything the schema has against `document`, in the order of the document, up to a limit that it names."""
    rules: Any = schema(package, name)
    validator = _validator(package, name)
    violations: list[tuple[JsonPath, ValidationError]] = []
    refusals, end = 0, ""
    for under, first, part in () if _ask(validator.is_valid, document) else _parts(document):
        if end or _ask(validator.is_valid, part):
            continue
        if _has_more_values(part, LIMITS.values_with_problems):
            at = f"/{'/'.join(map(str, (*under, first)))}"
            most = f"{LIMITS.values_with_problems:,}"
            end = f"is not what the format allows at {at}, which has more than {most} values"
            continue
        for error in _ask(lambda part: list(validator.iter_errors(part)), part):
            of_whole = [*_in_whole(error, under, first)]
            violations += of_whole
            refusals += len(of_whole) * (error.kind.name != "additionalProperties")
        if refusals > LIMITS.problems:
            end = f"has more than {LIMITS.problems:,} problems"
    if not (violations or end or _ask(validator.is_valid, document)):  # every part is right, and the whole is not
        violations = [(tuple(error.instance_path), error) for error in validator.iter_errors(document)]
    for json_path, error in sorted(violations, key=_place):
        rule = reduce(getitem, error.schema_path[:-1], rules)
        yield from _words(json_path, error, rule, rules.get("properties", {}))
    if end:
        yield Complaint(json_path=(), message=f"{end}: what follows is not looked at")


def _in_whole(error: ValidationError, under: JsonPath, first: int) -> Iterator[tuple[JsonPath, ValidationError]]:
    """An error of a part, with its place in the document; one of what all parts have is of the first."""
    json_path = tuple(error.instance_path)
    index = json_path[len(under)] if json_path[: len(under)] == under and len(json_path) > len(under) else None
    if isinstance(index, int):
        yield (*under, first + index, *json_path[len(under) + 1 :]), error
    elif first == 0:
        yield json_path, error


def _parts(document: object) -> Iterator[tuple[JsonPath, int, object]]:
    """The document with some entries at a time of its longest list: where it is, the first of them, and this."""
    lists: list[tuple[JsonPath, list[object]]] = [((), document)] if isinstance(document, list) else []
    if isinstance(document, dict):
        lists = [((key,), value) for key, value in document.items() if isinstance(value, list)]
    under, entries = max(lists, key=lambda each: len(each[1]), default=((), []))
    for first in range(0, len(entries) or 1, AT_ONCE):
        some = entries[first : first + AT_ONCE]
        if isinstance(document, dict) and under:
            yield under, first, {**document, under[0]: some}
        else:
            yield under, first, some if lists else document


def _has_more_values(value: object, most: int) -> bool:
    stack, count = [value], 0
    while stack and count <= most:
        each = stack.pop()
        if isinstance(each, (dict, list)):
            count += len(each)
            stack += each.values() if isinstance(each, dict) else each
    return count > most


def _place(violation: tuple[JsonPath, ValidationError]) -> tuple[list[tuple[str, str | int]], bool]:
    """Orders complaints: unknown keys last in their place, as the nearest right word may be a missing one."""
    json_path, error = violation
    return [(str(type(step)), step) for step in json_path], error.kind.name == "additionalProperties"


def _ask(validator: Callable[[object], T], document: object) -> T:
    """What a validator says of `document`: half of a character, which JSON can escape, is `?` for it."""
    try:
        return validator(document)
    except UnicodeEncodeError:
        return validator(json.loads(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")))


def _words(json_path: JsonPath, error: Any, rules: Any, top: Mapping[str, Any]) -> Iterator[Complaint]:
    """`rules` is the part of the schema that `error` is of, `top` has the keys of the document itself."""
    keyword = error.schema_path[-1]
    if keyword == "additionalProperties":
        properties = rules.get("properties", {})
        for name in error.kind.unexpected:
            message = f"unknown key '{name}'{_hint(name, properties, json_path, top)}"
            yield Complaint(json_path=(*json_path, name), message=message, key=True)
    elif keyword == "required":
        yield Complaint(json_path=json_path, message=f"'{error.kind.property}' is missing")
    elif keyword in _MESSAGES:
        message = _MESSAGES[keyword](error.instance, rules[keyword])
        yield Complaint(json_path=json_path, message=f"{message}{rules.get('errorNext', '')}")
    else:
        yield Complaint(json_path=json_path, message=rules.get("errorMessage") or error.message[:300])


def _not_allowed(value: object, allowed: Sequence[object]) -> str:
    options = ", ".join(json.dumps(each) for each in allowed)
    either = options if len(allowed) == 1 else f"one of {options}"
    text = json.dumps(value, ensure_ascii=False)
    text = text if len(text) <= 60 else text[:57] + "..."
    return f"must be {either}, but is {text}{_quotes(value, allowed)}"


def _too_few(value: Sized, least: int) -> str:
    number = len(value)
    has = f"has {number or 'no'} {'entry' if number < 2 else 'entries'}"
    return f"{has}; at least {least} {'is' if least == 1 else 'are'} needed"


def _too_many(value: Sized, most: int) -> str:
    what = "characters" if isinstance(value, str) else "entries"
    return f"has {len(value)} {what}; at most {most} are allowed"


def _outside(words: str) -> Callable[[float, float], str]:
    return lambda number, limit: f"must be {words} {json.dumps(limit)}, but is {json.dumps(number)}"


def _above(number: float, limit: float) -> str:
    if limit == 1 and 5 < number <= 100:  # below, a score may be meant
        return f"{number} is greater than 1: it is a share; write {number / 100:g} for {number} %"
    return _outside("at most")(number, limit)


# By keyword: of the value in the document, and what the schema says there.
_MESSAGES: Mapping[str, Callable[[Any, Any], str]] = {
    "type": lambda value, types: f"must be {_types(types)}, but is {_kind(value, types)}",
    "enum": _not_allowed,
    "const": lambda value, allowed: _not_allowed(value, [allowed]),
    "minItems": _too_few,
    "minProperties": _too_few,
    "maxItems": _too_many,
    "maxProperties": _too_many,
    "maxLength": _too_many,
    "minLength": lambda *_: "must not be empty",
    "pattern": lambda value, pattern: f"{value!r:.200} does not match {pattern!r}",
    "minimum": _outside("at least"),
    "exclusiveMinimum": _outside("above"),
    "maximum": _above,
    "exclusiveMaximum": _outside("below"),
}


def _quotes(value: object, allowed: Sequence[object]) -> str:
    """What to write instead: the nearest of the allowed values, or the same one as another type."""
    same = next((each for each in allowed if str(each) == str(value)), None)
    if same is None:
        return did_you_mean(str(value), [str(each) for each in allowed])
    return f"; write {json.dumps(same)} {'with' if isinstance(same, str) else 'without'} quotes"


def _hint(name: str, names: Collection[str], json_path: JsonPath, top: Mapping[str, Any]) -> str:
    """The nearest known key; otherwise the object it belongs to, or the known keys, if they are few."""
    if guess := did_you_mean(name, names):
        return guess
    if json_path and name in top:
        return f"; it belongs to the file itself, beside '{json_path[0]}'"
    if not json_path and (owner := next((key for key in top if name in _keys_of(top[key])), None)):
        return f"; it belongs to '{owner}'"
    return f"; known are {', '.join(names)}" if 0 < len(names) <= MOST_KNOWN_KEYS else ""


def _keys_of(part: Any) -> Collection[str]:
    """The keys of an object, given its schema."""
    rules = object_in(part)
    properties: Mapping[str, Any] = rules.get("then", rules).get("properties", {})
    return properties


_NAMES = {
    "string": "text",
    "object": "an object",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
_TYPES = {str: "string", list: "array", int: "number", float: "number", bool: "boolean", NoneType: "null"}


def _types(types: str | Iterable[str]) -> str:
    return " or ".join(_NAMES[name] for name in ([types] if isinstance(types, str) else types))


def _old_boolean(value: object) -> str | None:
    """The text `yes`, which was `true` in YAML 1.1, with what to write instead; None for another value."""
    word = value.lower() if isinstance(value, str) else ""
    if word not in ("yes", "no", "on", "off"):
        return None
    return f"the text '{value}'; write {'true' if word in ('yes', 'on') else 'false'}"


def _kind(value: object, types: str | Sequence[str]) -> str:
    """What a value is that is none of the types."""
    if types == "boolean" and (old := _old_boolean(value)) is not None:
        return old
    if isinstance(value, float) and "integer" in types:
        return json.dumps(value)
    return _NAMES[_TYPES.get(type(value), "object")]
