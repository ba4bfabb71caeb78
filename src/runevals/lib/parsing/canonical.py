"""Canonical JSON and its hash."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from json.encoder import encode_basestring_ascii

_ENCODE = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_ENCODE_AS_WRITTEN = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=dict).encode


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces and all text in NFC."""
    if isinstance(value, str):
        return encode_basestring_ascii(unicodedata.normalize("NFC", value))
    if type(value) is dict:
        with suppress(TypeError):  # a record's mapping of another type
            text = _ENCODE(value)
            if "\\u" not in text:
                return text  # in ASCII, so that NFC changes nothing
    return _ENCODE(_normal(value))


def in_ascii(value: object) -> str:
    """JSON as `canonical` writes it, but with the text as it is: a `\\u` stands for what is not ASCII."""
    return _ENCODE_AS_WRITTEN(value)


def as_written(value: object) -> str | None:
    """Canonical JSON of `value` with its text as it is, if some is not in NFC."""
    text = in_ascii(value)
    return text if "\\u" in text and text != canonical(value) else None


def fingerprint(value: object) -> str:
    """sha256 over the canonical form, in hexadecimal."""
    return digest(canonical(value))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _normal(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value)
    if isinstance(value, Mapping):
        return {_normal(str(key)): _normal(item) for key, item in value.items()}
    return [_normal(item) for item in value] if isinstance(value, list | tuple) else value
