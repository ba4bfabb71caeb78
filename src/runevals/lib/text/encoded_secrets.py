"""Secrets in another form: a text is decoded in every usual way, twice, and each result is searched."""

from __future__ import annotations

import re
from array import array
from binascii import a2b_base64
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate, compress
from math import gcd
from unicodedata import normalize

from msgspec import Struct

SHORTEST = 8  # characters of a secret that is looked for in pieces, without those that are ignored
MOSTLY_ASCII = 0.75  # of a secret with other letters: otherwise what is left without them says little
SURELY_NO_WORD = 16  # letters: a shorter secret of letters alone may be a word of the language
DEPTH = 1  # encodings within the outermost one
READABLE = b"." * 14  # characters in a row of a decoded text, which is then decoded again

# Letters and digits are compared, without case and accents. 0, u and x are ignored, as they begin escapes: \u0041,
# \x41, 0x41.
_COMPARED = b"123456789abcdefghijklmnopqrstvwyzABCDEFGHIJKLMNOPQRSTVWYZ"
_IGNORED = bytes(set(range(128)) - set(_COMPARED))
_LOWER = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")
_NO_LETTER = re.compile(r"[^\w]")
# %2F (also %252F), \u002f \n, \x2f, \057, &amp; &#47; &#x2f;; of bytes, several. `re` is quick at plain starts.
_ESCAPE = re.compile(
    r"%(?i:(?:25)*[0-9a-f]{2}(?:%(?:25)*[0-9a-f]{2})*)"
    r"|\\(?<!\\\\)\\*(?i:x[0-9a-f]{2}(?:\\+x[0-9a-f]{2})*)"  # from the first backslash: at each, it takes for ever
    r"|\\(?<!\\\\)\\*(?i:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|[0-3][0-7]{2}|[nrtbf])"
    r"|&(?i:(?:amp;)*(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});)"
)
_AMP = re.compile("^(?:amp;)+(?=.)", re.IGNORECASE)
_BYTE = re.compile("[0-9a-fA-F]{2}(?=[%\\\\]|$)")
_ESCAPE_OR_CHARACTER = re.compile(f"{_ESCAPE.pattern}|(.)", re.DOTALL)

Span = tuple[int, int, str]  # from, to, and the secret's name
Place = Callable[[int, int], tuple[int, int]]  # from a span of what is seen to that of the text


class Layout(Struct, frozen=True):
    """A text without its escapes, or without what a dump has around its columns."""

    text: str
    place: Place


class EncodedSecrets:
    """Secrets that are looked for in other forms than their own; (value, name) of each."""

    def __init__(self, secrets: Iterable[tuple[str, str]]) -> None:
        self._pieces, self._letters, self._bytes = dict[bytes, str](), dict[bytes, str](), dict[bytes, str]()
        for value, name in secrets:
            pieces, letters = _squeezed(value), _letters(value)
            is_word = value.isalpha() and len(letters) < SURELY_NO_WORD
            is_ascii = value.isascii() or len(pieces) >= MOSTLY_ASCII * len(_NO_LETTER.sub("", value))
            if is_ascii and not is_word and len(pieces) >= SHORTEST:
                self._pieces |= {pieces: name, pieces[::-1]: name}
            if not value.isascii() and not is_word and len(letters) >= SHORTEST:
                self._letters[letters] = name
            self._bytes[value.encode("utf-8", "surrogateescape")] = name
        is_ascii = all(map(bytes.isascii, self._bytes))
        self._run = b"." * min(map(len, self._bytes), default=0) if is_ascii else b""

    def removed_from(self, text: str) -> str:
        """`text` with every secret in it, whatever its form, as `[redacted NAME]`."""
        if not self._bytes:
            return text
        parts, done = list[str](), 0
        for start, end, name in sorted(self._spans(text, DEPTH)):
            if start >= done:
                parts += [text[done:start], f"[redacted {name}]"]
            done = max(done, end)
        return "".join([*parts, text[done:]]) if parts else text

    def _spans(self, text: str, depth: int) -> Iterator[Span]:
        for layout in _layouts(text):
            yield from _placed(layout.place, self._in_pieces(layout.text))
            readings = [(one, one.contents()) for one in _readings(layout.text.encode("ascii", "replace"))]
            if readings and self._may_be_in(b"\n".join([each for _, contents in readings for each in contents])):
                for reading, contents in readings:
                    for number, content in enumerate(contents):
                        hits = _placed(partial(reading.place, number), self._in_bytes(content, depth))
                        yield from _placed(layout.place, hits)

    def _may_be_in(self, content: bytes) -> bool:
        """Whether decoded texts have something readable, far quicker than looking at each."""
        content = content.replace(b"\0", b"")  # UTF-16
        readable = content.translate(_READABLE)
        return READABLE in readable or (self._run in readable and any(map(content.__contains__, self._bytes)))

    def _in_bytes(self, content: bytes, depth: int) -> Iterator[Span]:
        places, plain = _indexes(content, _NOT_NUL), content.replace(b"\0", b"")
        hits = [*_finds(plain, self._bytes)]
        if READABLE in plain.translate(_READABLE):
            text = plain.decode("latin-1")
            hits += self._spans(text, depth - 1) if depth else self._in_pieces(text)
        yield from ((places[start], places[end - 1] + 1, name) for start, end, name in hits)

    def _in_pieces(self, text: str) -> Iterator[Span]:
        """Where secrets are with any separators between their characters, in another case, or reversed."""
        if hits := [*_finds(_squeezed(text), self._pieces)]:
            places = _indexes(text.encode("ascii", "replace"), _COMPARED)
            yield from ((places[start], places[end - 1] + 1, name) for start, end, name in hits)
        if self._letters and (hits := [*_finds(_letters(text), self._letters)]):
            places = array("q", (at for at, character in enumerate(text) for _ in _letters(character)))
            yield from ((places[start], places[end - 1] + 1, name) for start, end, name in hits)


def _finds(text: bytes, known: Mapping[bytes, str]) -> Iterator[Span]:
    for form in filter(text.__contains__, known):
        yield from ((*match.span(), known[form]) for match in re.finditer(re.escape(form), text))


def _placed(place: Place, spans: Iterable[Span]) -> Iterator[Span]:
    return ((*place(start, end), name) for start, end, name in spans)


@lru_cache(2)
def _indexes(text: bytes, of: bytes) -> array[int]:
    """Where these characters are in the text."""
    return array("q", compress(range(len(text)), text.translate(_runs(of))))


def _squeezed(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(_LOWER, _IGNORED)


def _letters(text: str) -> bytes:
    plain = text if text.isascii() else _NO_LETTER.sub("", normalize("NFKD", text)).casefold()
    return plain.encode("utf-8", "ignore").translate(_LOWER, _IGNORED)


# Layouts: the same text without escapes, and without what a dump has around its columns.

_DUMP = re.compile(
    r"^[ \t\"'|>]*[0-9a-fA-F]{6,8}:?[ \t]+((?:[0-9a-fA-F]{2,8}[ \t]{1,2})*[0-9a-fA-F]{2,8}(?![^\s|>])|.*)(.*)$",
    re.MULTILINE,
)
_GROUP = re.compile(r"\b([0-9a-fA-F]{2})([0-9a-fA-F]{2})\b")


def _layouts(text: str) -> Iterator[Layout]:
    yield Layout(text, lambda start, end: (start, end))
    yield from _dumps(text)
    if not any(map(text.__contains__, "%\\&")):  # with which every escape begins
        return
    plain, escapes = _ESCAPE.subn(lambda match: _unescaped(match[0]), text)
    if escapes:
        yield Layout(plain, partial(_of_escapes, text))
        yield from (Layout(dump.text, partial(_of_escapes, text, within=dump.place)) for dump in _dumps(plain))


@lru_cache(1)
def _bounds(text: str) -> tuple[array[int], array[int]]:
    """Where each character of the text without escapes begins and ends in the text."""
    starts, ends = array("q"), array("q")
    for match in _ESCAPE_OR_CHARACTER.finditer(text):
        for _ in match[1] or _unescaped(match[0]):
            starts.append(match.start())
            ends.append(match.end())
    return starts, ends


def _of_escapes(text: str, start: int, end: int, within: Place | None = None) -> tuple[int, int]:
    start, end = within(start, end) if within else (start, end)
    starts, ends = _bounds(text)
    return starts[start], ends[end - 1]


def _dumps(text: str) -> Iterator[Layout]:
    """The columns of `xxd`, `hexdump` and `od`, also as words of two bytes in the order of most machines."""
    lines = [*_DUMP.finditer(text)] if "0000" in text else []
    if not lines:
        return
    columns = [match[1] + "\n" for match in lines]
    starts = [*accumulate(map(len, columns), initial=0)]

    def place(start: int, end: int) -> tuple[int, int]:
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
        return lines[first].start(1) + start - starts[first], lines[last].end()

    plain = "".join(columns)
    yield Layout(plain, place)
    yield Layout(_GROUP.sub(r"\2\1", plain), lambda start, end: place(max(start - 2, 0), end))


@lru_cache(1024)
def _unescaped(escape: str) -> str:
    """The characters that an escape stands for."""
    import html  # slow to load, and rarely needed

    if escape[0] == "&":
        return html.unescape(f"&{_AMP.sub('', escape[1:])}")
    kind, digits = (rest := escape.lstrip("\\"))[0], rest[1:].strip("{}")
    if kind in "uU":
        return chr(min(int(digits, 16), 0x10FFFF))
    if kind in "0123":
        return chr(int(rest, 8))
    if kind not in "%xX":
        return "\n" if kind in "nr" else " "
    raw = bytes.fromhex("".join(_BYTE.findall(escape)))
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


# Encodings of bytes.


class Codec(Struct, frozen=True):
    """One way to write bytes as digits, from any digit of a period on."""

    digits: bytes
    others: bytes
    same: bytes  # table of digits that mean the same
    period: int  # digits after which bytes begin anew
    bits: int  # of a digit
    decode: Callable[[bytes], bytes]


def _codec(
    digits: bytes,
    bits: int,
    also: tuple[bytes, bytes] = (b"", b""),
    decode: Callable[[bytes], bytes] | None = None,
) -> Codec:
    every = digits + also[0]
    numerals = bytes.maketrans(digits, b"0123456789abcdefghijklmnopqrstuv"[: 2**bits].ljust(len(digits)))

    def by_number(text: bytes) -> bytes:
        return int(b"0" + text.translate(numerals), 2**bits).to_bytes(len(text) * bits // 8, "big")

    others = bytes(set(range(256)) - set(every))
    return Codec(every, others, bytes.maketrans(*also), 8 // gcd(8, bits), bits, decode or by_number)


_DIGITS = b"0123456789"
_UPPER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_64 = _UPPER + _UPPER.lower() + _DIGITS + b"+/"
BASE64 = _codec(_64, 6, (b"-_", b"+/"), a2b_base64)
HEXADECIMAL = _codec(b"0123456789abcdefABCDEF", 4, decode=lambda text: bytes.fromhex(text.decode()))
BASE32 = _codec(_UPPER + b"234567", 5), _codec(_DIGITS + _UPPER[:22], 5)
BINARY = _codec(b"01", 1)
# Characters one by one: as octal or decimal numbers, or in quotes with something between them.
_NUMBERS = (
    (re.compile(rb"(?<![0-9])([0-3][0-7]{2})(?![0-9])"), 8),
    (re.compile(rb"(?<![0-9])([0-9]{1,3})(?![0-9])"), 10),
)
_QUOTED = re.compile(rb"""(?<!\w)["'](.)["'](?!\w|\s*:)""")
_PREFIX = re.compile(rb"0[xX]")
_NOT_NUL = bytes(range(1, 256))


def _runs(characters: Iterable[int]) -> bytes:
    """A table that makes points of these characters."""
    return bytes(ord(".") if byte in characters else 0 for byte in range(256))


_READABLE = _runs(range(32, 127))
_RUNS_64, _RUNS_32 = _runs(BASE64.digits), _runs(_DIGITS + _UPPER)
_RUNS_BETWEEN = _runs(set(range(128)) - set(_64[:-2]))


class Digits(Struct, frozen=True):
    """A text read as digits of bytes, beginning with each digit of the first period."""

    source: bytes
    codec: Codec

    def contents(self) -> list[bytes]:
        """What it says then."""
        codec, period = self.codec, self.codec.period
        digits = self.source.translate(codec.same, codec.others) + codec.digits[:1] * (2 * period)
        end = len(digits) - period
        return [codec.decode(digits[at : end - (end - at) % period]) for at in range(period)]

    def place(self, number: int, start: int, end: int) -> tuple[int, int]:
        """Where a span of one of these contents is."""
        bits, places = self.codec.bits, _indexes(self.source, self.codec.digits)
        first, last = number + start * 8 // bits, number + (end * 8 - 1) // bits
        return places[first], places[min(last, len(places) - 1)] + 1


class Tokens(Struct, frozen=True):
    """A text read as characters one by one, as numbers or in quotes."""

    matches: Sequence[re.Match[bytes]]
    base: int = 0

    def contents(self) -> list[bytes]:
        """What these characters are together."""
        if not self.base:
            return [b"".join(match[1] for match in self.matches)]
        return [bytes(min(int(match[1], self.base), 255) for match in self.matches)]

    def place(self, _: int, start: int, end: int) -> tuple[int, int]:
        """Where a span of them is."""
        return self.matches[start].start(), self.matches[end - 1].end()


def _readings(text: bytes) -> Iterator[Digits | Tokens]:
    if b"..........." in text.translate(_RUNS_64):  # without eleven in a row, the shortest secret is not in it
        yield Digits(text, BASE64)
        for codec in BASE32 if b"............." in text.translate(_RUNS_32) else ():
            yield Digits(text, codec)
    if len(text.translate(None, HEXADECIMAL.others)) >= 2 * SHORTEST:
        yield Digits(_PREFIX.sub(b"  ", text) if b"0x" in text or b"0X" in text else text, HEXADECIMAL)
        if text.count(b"0") + text.count(b"1") >= 8 * SHORTEST:
            yield Digits(text, BINARY)
        for pattern, base in _NUMBERS if b"......." in text.translate(_RUNS_BETWEEN, _DIGITS) else ():
            yield Tokens([*pattern.finditer(text)], base)
    if text.count(b'"') + text.count(b"'") >= 2 * SHORTEST:
        yield Tokens([*_QUOTED.finditer(text)])
