"""Records ⇄ JSON: their types say what is valid."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from runevals.lib.parsing.strict_json import finite, refuse_constant

T = TypeVar("T")

_MISSING = re.compile(r"Object missing required field `([^`]*)`")
_decoder = cache(msgspec.json.Decoder)
_STEP = re.compile(r"\.|\[(\d+)\]|\[\.\.\.\]")


class WrongRecord(ValueError):
    """JSON that is not of a type; the message begins with the place in it: `/cases/1/status …`."""


def json_of(value: object) -> bytes:
    """The JSON of a value with records in it. Raises ValueError for text that is no Unicode."""
    return _encode(value)


def json_text(value: object) -> str:
    """A record as JSON text; characters that are not Unicode are escaped."""
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:
        with_constants = json.dumps(msgspec.to_builtins(value, enc_hook=_in_memory))
        plain = json.loads(with_constants, parse_constant=lambda _: None)
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        return text.encode(errors="backslashreplace").decode()  # as JSON escapes it


def from_json(text: str | bytes, kind: type[T]) -> T:
    """The record in a text. Raises WrongRecord for valid JSON of another type, ValueError for other texts."""
    try:
        return cast("T", _decoder(cast("Any", kind)).decode(text))
    except msgspec.ValidationError as error:
        raise WrongRecord(_complaint(error)) from None
    except (msgspec.DecodeError, UnicodeError):  # wrong, or with text that is no Unicode
        return from_plain(json.loads(text, parse_constant=refuse_constant, parse_float=finite), kind)


def from_plain(value: object, kind: type[T]) -> T:
    """The record in what a JSON parser gave. Raises WrongRecord."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise WrongRecord(_complaint(error)) from None


def _complaint(error: msgspec.ValidationError) -> str:
    """The place as a JSON pointer, and what is wrong there."""
    message, _, path = str(error).partition(" - at `$")
    place = _STEP.sub(lambda step: f"/{step[1] or ''}", path.rstrip("`")).rstrip("/")
    missing = _MISSING.fullmatch(message)
    what = f"'{missing[1]}' is missing" if missing else message.replace("`", "'")
    return f"{place or '/'} {what}"


def _in_memory(value: Any) -> object:
    """Raises TypeError for what is none of our values."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "json"):
        return tuple(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


_encode = msgspec.json.Encoder(  # what is stored as JSON is taken as it is
    enc_hook=lambda value: msgspec.Raw(value.json) if hasattr(value, "json") else _in_memory(value)
).encode
