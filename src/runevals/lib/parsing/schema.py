"""A JSON Schema's complaints, in words that name the key, the place and the nearest right word."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from runevals.lib.text.suggest import did_you_mean
from runevals.records.quick_dataclass import dataclass

MOST_KNOWN_KEYS = 8  # known keys

JsonPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """A violation of a schema; `key`: the path is that of a key, not of its value."""

    json_path: JsonPath
    message: str
    kind: Literal["unknown_key", "other"] = "other"
    key: bool = False

    @property
    def rule(self) -> str:
        """The rule of a suite's problem that it is."""
        return "unknown-key" if self.kind == "unknown_key" else "schema"


@cache
def schema(package: str, name: str) -> Mapping[str, Any]:
    """A schema that we ship: `schema("runevals.suites.dialects", "rows")`."""
    text = files(package).joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    document: Mapping[str, Any] = json.loads(text)
    return document


@cache
def _quick(package: str, name: str, part: str | None, without: tuple[str, ...]) -> Callable[[object], object]:
    import fastjsonschema

    document = schema(package, name)
    # It supports drafts up to 7, without `const`; our schemas use no keyword with another meaning in newer drafts.
    rules = {key: value for key, value in document.items() if key not in ("$schema", "$id")}
    if part is not None:
        rules = {**document["properties"][part], "$defs": document["$defs"]}
    if without:  # what is not compiled takes no time
        rules["properties"] = {key: rule for key, rule in rules["properties"].items() if key not in without}
        rules["required"] = [key for key in rules["required"] if key not in without]
    compiled: Callable[[object], object] = fastjsonschema.compile(rules, detailed_exceptions=False)
    return compiled


def fits(
    package: str, name: str, document: object, part: str | None = None, *, without: tuple[str, ...] = ()
) -> bool:
    """Whether `document` is valid by a schema of runevals; 20 times as fast as listing the violations.

    With `part`, `document` is the value of that key. The keys in `without` are not looked at.
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        _quick(package, name, part, without)(document)
    except JsonSchemaValueException:
        return False
    return True


@cache
def _validator(package: str, name: str) -> Any:
    import jsonschema  # 100 ms that `--version` need not pay

    return jsonschema.Draft202012Validator(schema(package, name))


def complaints(package: str, name: str, document: object) -> Iterator[Complaint]:
    """Everything the schema has against `document`, in the order of the document."""
    if fits(package, name, document):
        return
    errors = _validator(package, name).iter_errors(document)
    for error in sorted(errors, key=lambda error: [(str(type(s)), s) for s in error.absolute_path]):
        yield from _words(error, schema(package, name).get("properties", {}))


def _words(error: Any, top: Mapping[str, Any]) -> Iterator[Complaint]:
    """`top` are the keys of the document itself, with their schemas."""
    json_path: JsonPath = tuple(error.absolute_path)
    match error.validator:
        case "additionalProperties":
            properties = error.schema.get("properties", {})
            for name in error.instance:
                if name not in properties:
                    yield Complaint(
                        json_path=(*json_path, name),
                        message=f"unknown key '{name}'{_hint(name, properties, json_path, top)}",
                        kind="unknown_key",
                        key=True,
                    )
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            # One error per missing name, each with all required names: its message begins with the missing one.
            name = next(name for name in missing if error.message.startswith(repr(name)))
            yield Complaint(json_path=json_path, message=f"'{name}' is missing")
        case "type":
            types = error.validator_value
            message = f"must be {_types(types)}, but is {_kind(error.instance, types)}"
            yield Complaint(json_path=json_path, message=message)
        case "enum" | "const":
            allowed = error.validator_value if error.validator == "enum" else [error.validator_value]
            options = ", ".join(json.dumps(value) for value in allowed)
            either = options if len(allowed) == 1 else f"one of {options}"
            yield Complaint(
                json_path=json_path,
                message=f"must be {either}, but is {_short(error.instance)}{_quotes(error.instance, allowed)}",
            )
        case "minItems":
            number, least = len(error.instance), error.validator_value
            has = f"has {number or 'no'} {'entry' if number < 2 else 'entries'}"
            needed = "is needed" if least == 1 else "are needed"
            yield Complaint(json_path=json_path, message=f"{has}; at least {least} {needed}")
        case "maxItems":
            number = len(error.instance)
            yield Complaint(
                json_path=json_path, message=f"has {number} entries; at most {error.validator_value} are allowed"
            )
        case "minLength":
            yield Complaint(json_path=json_path, message="must not be empty")
        case "maximum" if error.validator_value == 1 and 5 < error.instance <= 100:  # below, a score may be meant
            number, share = error.instance, f"{error.instance / 100:g}"
            yield Complaint(
                json_path=json_path,
                message=f"{number} is greater than 1: it is a share; write {share} for {number} %",
            )
        case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
            limit, number = f"{_LIMITS[error.validator]} {json.dumps(error.validator_value)}", error.instance
            yield Complaint(json_path=json_path, message=f"must be {limit}, but is {json.dumps(number)}")
        case _:
            own = error.schema.get("errorMessage") if isinstance(error.schema, Mapping) else None
            yield Complaint(json_path=json_path, message=own or error.message[:300])


_LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
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
    return part.get("then", part).get("properties", {}) if isinstance(part, Mapping) else ()


_NAMES = {
    "string": "text",
    "object": "an object",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


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
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case float() if "integer" in types:
            return json.dumps(value)
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
