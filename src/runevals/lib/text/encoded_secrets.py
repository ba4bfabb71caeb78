"""Secrets in another form: encoded, escaped, or with separators between their characters."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping

SHORTEST = 8  # characters of a form, without those that are ignored
SURELY_NO_WORD = 16  # letters: a shorter secret of letters alone may be a word of the language

# Letters and digits are compared, without case. 0, u and x are ignored, as they begin escapes: \u0041, \x41, 0x41.
_COMPARED = b"123456789abcdefghijklmnopqrstvwyzABCDEFGHIJKLMNOPQRSTVWYZ"
_IGNORED = bytes(set(range(256)) - set(_COMPARED))
_LOWER = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")
# Escapes of characters that are ignored: %2F (also %252F), &amp; &#47; &#x2f; \u002f \x2f \n
_CODES = "2[0-9a-f]|3[a-f]|40|5[b-f]|60|7[b-e]|0[9ad]"
_DECIMAL = "3[2-9]|4[0-7]|5[89]|6[0-4]|9[1-6]|12[3-6]"
_ESCAPE = re.compile(
    rf"%(?i:(?:25)*(?:{_CODES}))"
    rf"|(?<!\\)\\+(?i:u00(?:{_CODES})|x(?:{_CODES})|[nrt])"  # from the first: at each, it would take for ever
    rf"|&(?i:(?:amp;)*(?:amp|lt|gt|quot|apos|sol|plus|equals|#0*(?:{_DECIMAL})|#x0*(?:{_CODES}));)"
)
_CHARACTER = re.compile("(.)", re.DOTALL)
_ESCAPE_OR_CHARACTER = re.compile(f"{_ESCAPE.pattern}|(.)", re.DOTALL)


def without_encoded(text: str, forms: Mapping[bytes, str]) -> str:
    """`text` with every one of `forms` in it, with any separators between its characters, as `[redacted NAME]`."""
    if not forms:
        return text
    if any(map(_squeezed(text).__contains__, forms)):
        text = _redact_encoded(text, forms, _CHARACTER)
    if not any(map(text.__contains__, "%\\&")):  # with which every escape begins
        return text
    plain, escapes = _ESCAPE.subn("", text)
    if escapes and any(map(_squeezed(plain).__contains__, forms)):
        text = _redact_encoded(text, forms, _ESCAPE_OR_CHARACTER)
    return text


def forms_of(value: str) -> Iterator[bytes]:
    """The forms of a secret in a text, of the compared characters only.

    Plain, as hexadecimal or decimal numbers, and as base64 at any byte offset.
    """
    raw = value.encode("utf-8", "surrogateescape")
    plain = _squeezed(value)
    if not value.isalpha() or len(plain) >= SURELY_NO_WORD:
        yield from _long_enough(plain)
    yield from _long_enough(_squeezed(raw.hex()))
    yield from _long_enough(_squeezed(" ".join(map(str, raw))))
    for before in range(3):
        first, last = (
            (8 * before + 5) // 6,
            8 * (before + len(raw)) // 6,
        )  # characters that depend only on the secret
        yield from _long_enough(_squeezed(b64encode(bytes(before) + raw).decode()[first:last]))


def _long_enough(form: bytes) -> Iterator[bytes]:
    if len(form) >= SHORTEST:
        yield form


def _squeezed(text: str) -> bytes:
    return text.encode("ascii", "ignore").translate(_LOWER, _IGNORED)


def _redact_encoded(text: str, forms: Mapping[bytes, str], token: re.Pattern[str]) -> str:
    """The same with the place of each compared character in the text, which is needed once something is found."""
    pieces: list[tuple[bytes, int]] = [
        (piece, match.start()) for match in token.finditer(text) if match[1] and (piece := _squeezed(match[1]))
    ]
    compared = b"".join(piece for piece, _ in pieces)
    spans = sorted(
        (pieces[at][1], pieces[at + len(form) - 1][1] + 1, name)
        for form, name in forms.items()
        for at in _positions(compared, form)
    )
    parts, done = [], 0
    for start, end, name in spans:
        if start >= done:
            parts += [text[done:start], f"[redacted {name}]"]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def _positions(compared: bytes, form: bytes) -> Iterator[int]:
    at = compared.find(form)
    while at >= 0:
        yield at
        at = compared.find(form, at + len(form))
