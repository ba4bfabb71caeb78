"""Secrets in another form: encoded, escaped, or with separators between their characters."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from unicodedata import normalize

SHORTEST = 8  # characters of a form, without those that are ignored
MOSTLY_ASCII = 0.75  # of a secret with other letters: otherwise what is left without them says little
SURELY_NO_WORD = 16  # letters: a shorter secret of letters alone may be a word of the language

# Letters and digits are compared, without case and accents. 0, u and x are ignored, as they begin escapes: \u0041,
# \x41, 0x41.
_COMPARED = b"123456789abcdefghijklmnopqrstvwyzABCDEFGHIJKLMNOPQRSTVWYZ"
_IGNORED = bytes(set(range(128)) - set(_COMPARED))
_LOWER = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")
_NO_LETTER = re.compile(r"[^\w]")
# Escapes: %2F (also %252F), \u002f \n, \x2f, &amp; &#47; &#x2f;. Those of bytes are taken together.
_ESCAPE = re.compile(
    r"(?:%(?i:(?:25)*[0-9a-f]{2}))+"
    r"|(?:(?<!\\)\\+(?i:x[0-9a-f]{2}))+"  # from the first backslash: at each, it would take for ever
    r"|(?<!\\)\\+(?i:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|[nrtbf])"
    r"|&(?i:(?:amp;)*(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});)"
)
_AMP = re.compile("^(?:amp;)+(?=.)", re.IGNORECASE)
_BYTE = re.compile("[0-9a-fA-F]{2}(?=[%\\\\]|$)")
_CHARACTER = re.compile("(.)", re.DOTALL)
_ESCAPE_OR_CHARACTER = re.compile(f"{_ESCAPE.pattern}|(.)", re.DOTALL)


def without_encoded(text: str, forms: Mapping[bytes, str], all_letters: Mapping[bytes, str]) -> str:
    """`text` with every one of `forms` in it, with any separators between its characters, as `[redacted NAME]`.

    `all_letters`: forms of secrets with other letters than those of ASCII, compared with these letters.
    """
    for known, squeezed in ((forms, _squeezed_ascii), (all_letters, _squeezed)):
        if not known:
            continue
        if any(map(squeezed(text).__contains__, known)):
            text = _redact_encoded(text, known, _CHARACTER, squeezed)
        if not any(map(text.__contains__, "%\\&")):  # with which every escape begins
            continue
        plain, escapes = _ESCAPE.subn(lambda match: _unescaped(match[0]), text)
        if escapes and any(map(squeezed(plain).__contains__, known)):
            text = _redact_encoded(text, known, _ESCAPE_OR_CHARACTER, squeezed)
    return text


def letters_of(value: str) -> Iterator[bytes]:
    """The plain form of a secret with other letters than those of ASCII."""
    form = b"" if value.isascii() else _squeezed(value)
    if not _may_be_word(value, form):
        yield from _long_enough(form)


def forms_of(value: str) -> Iterator[bytes]:
    """The forms of a secret in a text, of the compared characters of ASCII only.

    Plain, as hexadecimal or decimal numbers, and as base64 at any byte offset.
    """
    raw = value.encode("utf-8", "surrogateescape")
    plain = _squeezed_ascii(value)
    is_ascii = value.isascii() or len(plain) >= MOSTLY_ASCII * len(_NO_LETTER.sub("", value))
    if is_ascii and not _may_be_word(value, plain):
        yield from _long_enough(plain)
    yield from _long_enough(_squeezed_ascii(raw.hex()))
    yield from _long_enough(_squeezed_ascii(" ".join(map(str, raw))))
    for before in range(3):
        first, last = (
            (8 * before + 5) // 6,
            8 * (before + len(raw)) // 6,
        )  # characters that depend only on the secret
        yield from _long_enough(_squeezed_ascii(b64encode(bytes(before) + raw).decode()[first:last]))


def _may_be_word(value: str, form: bytes) -> bool:
    return value.isalpha() and len(form) < SURELY_NO_WORD


def _long_enough(form: bytes) -> Iterator[bytes]:
    if len(form) >= SHORTEST:
        yield form


def _squeezed(text: str) -> bytes:
    if not text.isascii():
        text = _NO_LETTER.sub("", normalize("NFKD", text)).casefold()
    return text.encode("utf-8", "ignore").translate(_LOWER, _IGNORED)


def _squeezed_ascii(text: str) -> bytes:
    return text.encode("ascii", "ignore").translate(_LOWER, _IGNORED)


@lru_cache(1024)
def _unescaped(escape: str) -> str:
    """The characters that an escape stands for."""
    import html  # slow to load, and rarely needed

    if escape[0] == "&":
        return html.unescape(f"&{_AMP.sub('', escape[1:])}")
    kind = escape.lstrip("\\")[0]
    if kind in "uU":
        return chr(min(int(escape.lstrip("\\")[1:].strip("{}"), 16), 0x10FFFF))
    if kind not in "%xX":
        return " "
    raw = bytes.fromhex("".join(_BYTE.findall(escape)))
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _redact_encoded(
    text: str, forms: Mapping[bytes, str], token: re.Pattern[str], squeezed: Callable[[str], bytes]
) -> str:
    """The same with the place of each compared character in the text, which is needed once something is found."""
    compared, places = bytearray(), list[tuple[int, int]]()  # where each compared byte comes from
    for match in token.finditer(text):
        piece = squeezed(match[1] or _unescaped(match[0]))
        compared += piece
        places += [match.span()] * len(piece)
    spans = sorted(
        (places[at][0], places[at + len(form) - 1][1], name)
        for form, name in forms.items()
        for at in _positions(compared, form)
    )
    parts, done = [], 0
    for start, end, name in spans:
        if start >= done:
            parts += [text[done:start], f"[redacted {name}]"]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def _positions(compared: bytes | bytearray, form: bytes) -> Iterator[int]:
    at = compared.find(form)
    while at >= 0:
        yield at
        at = compared.find(form, at + len(form))
