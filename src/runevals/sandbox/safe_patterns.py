"""Patterns that need no worker because they match every text in a limited number of steps.

A JavaScript pattern is plain if all of it means the same in Python, each repetition is of one character, and the
text is short enough for its steps. Everything else, including invalid patterns, goes to the worker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import inf, prod
from typing import NamedTuple

MOST_STEPS = 40_000_000  # at most some tenths of a second
LONGEST_PATTERN = 500
LONGEST_TEXT = 1024 * 1024
MOST_TIMES = 1000  # in {n,m}
MOST_DEPTH = 20

_FLAGS = frozenset("gis")  # of these, only `i` and `s` change the matches
_ASCII, _IGNORECASE = int(re.ASCII), int(re.IGNORECASE)  # numbers are combined in a tenth of the time
_DIGITS, _WORDS = "0-9", "A-Za-z0-9_"
_ASCII_SPACES = "\\t-\\r "
_SPACES = _ASCII_SPACES + "\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
_CLASSES = {
    "d": f"[{_DIGITS}]",
    "w": f"[{_WORDS}]",
    "s": f"[{_SPACES}]",
    "D": f"[^{_DIGITS}]",
    "W": f"[^{_WORDS}]",
    "S": f"[^{_SPACES}]",
}
_CONTROLS = {"n": "\\n", "r": "\\r", "t": "\\t"}
_LINE_ENDS = "\\n\\r\\u2028\\u2029"
_PLACES = {"^": "\\A", "$": "\\Z", "\\b": "\\b"}
_NO_LINE_END = f"[^{_LINE_ENDS}]"
_LITERALS = re.compile(r"[A-Za-z0-9 ]+(?![*+?{])")  # without the character that a quantifier repeats
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")  # two characters each, to JavaScript
_SIGNS: Mapping[str, tuple[int, float]] = {"*": (0, inf), "+": (1, inf), "?": (0, 1)}
_TIMES = re.compile(r"\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}")


class PlainPattern(NamedTuple):
    """One of them, as Python has it."""

    source: str
    flags: int
    size: int
    paths: Callable[[int, bool], float]  # as of `_Read`

    def fits(self, text: str) -> bool:
        """Whether it is quick on this text and finds what JavaScript would."""
        return self.is_quick_on(len(text)) and (text.isascii() or _BEYOND_BMP.search(text) is None)

    def is_quick_on(self, length: int) -> bool:
        """Whether it takes few steps on every text of this length."""
        return length <= LONGEST_TEXT and (length + 1) * self.size * self.paths(length, True) <= MOST_STEPS  # noqa: FBT003

    def matches(self, text: str) -> bool:
        """Whether it matches anywhere. Raises re.error for what Python cannot compile."""
        return _compiled(self.source, self.flags, text.isascii()).search(text) is not None


@lru_cache(1024)
def _compiled(source: str, flags: int, for_ascii: bool) -> re.Pattern[str]:  # noqa: FBT001
    """For texts in ASCII without the sets of other characters, which take most of the time to compile."""
    if for_ascii:
        source = source.replace(_SPACES, _ASCII_SPACES).replace(_LINE_ENDS, "\\n\\r")
    return re.compile(source, flags)


@lru_cache(1024)
def plain_pattern(pattern: str, flags: str) -> PlainPattern | None:
    """`new RegExp(pattern, flags)`, if it is plain."""
    if len(pattern) > LONGEST_PATTERN or not _FLAGS.issuperset(flags) or len(set(flags)) < len(flags):
        return None
    try:
        read = _Reader(pattern, ignores_case="i" in flags, all_lines="s" in flags).parse()
    except _NotPlain:
        return None
    plain = PlainPattern(read.source, _ASCII | (_IGNORECASE if "i" in flags else 0), read.size, read.paths)
    return plain if plain.is_quick_on(1) else None


class _NotPlain(Exception):
    """Something that is left to the worker."""


class _Read(NamedTuple):
    """A part of a pattern: its Python source, its size, and the number of ways to match at one position."""

    source: str
    size: int
    paths: Callable[[int, bool], float]  # of a length of text, and whether the pattern ends with this part


def _one_way(_length: int, _last: bool) -> float:  # noqa: FBT001
    return 1


class _Reader:
    """Reads a pattern from left to right. Everything it does not know raises _NotPlain."""

    def __init__(self, pattern: str, *, ignores_case: bool, all_lines: bool) -> None:
        self._rest = pattern
        self._ignores_case = ignores_case
        self._dot = "[\\s\\S]" if all_lines else _NO_LINE_END
        self._depth = 0

    def parse(self) -> _Read:
        read = self._choice()
        if self._rest:
            raise _NotPlain
        return read

    def _choice(self) -> _Read:
        """Sequences between bars."""
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise _NotPlain
        alternatives = [self._sequence()]
        while self._accept("|"):
            alternatives.append(self._sequence())
        self._depth -= 1
        if len(alternatives) == 1:
            return _Read(alternatives[0].source, alternatives[0].size + 1, alternatives[0].paths)
        return _Read(
            source="|".join(part.source for part in alternatives),
            size=sum(part.size for part in alternatives) + 1,
            paths=lambda length, last: sum(part.paths(length, last) for part in alternatives),
        )

    def _sequence(self) -> _Read:
        parts: list[_Read] = []
        while self._rest and self._rest[0] not in "|)":
            parts.append(self._part())
        several = [part for part in parts if part.paths is not _one_way]
        source, size = "".join([part.source for part in parts]), sum([part.size for part in parts]) + 1
        if not several:
            return _Read(source, size, _one_way)
        return _Read(
            source,
            size,
            lambda length, last: prod([part.paths(length, last and part is parts[-1]) for part in several]),
        )

    def _part(self) -> _Read:
        if literals := _LITERALS.match(self._rest):
            self._rest = self._rest[literals.end() :]
            return _Read(literals[0], literals.end(), _one_way)
        sign = self._rest[: 2 if self._rest[0] == "\\" else 1]
        if sign in _PLACES:
            self._rest = self._rest[len(sign) :]
            return _Read(_PLACES[sign], 1, _one_way)
        if self._accept("("):
            return self._group()
        return self._repeated(self._character())

    def _group(self) -> _Read:
        if not self._accept("?:") and self._rest.startswith("?"):
            raise _NotPlain  # names and looks around
        inner = self._choice()
        if not self._accept(")"):
            raise _NotPlain
        grouped = _Read(f"(?:{inner.source})", inner.size, inner.paths)
        if self._accept("?"):
            self._accept("?")
            return _Read(grouped.source + "?", inner.size + 1, lambda *at: 1 + inner.paths(*at))
        if self._rest[:1] in ("*", "+", "{"):
            raise _NotPlain
        return grouped

    def _repeated(self, character: str) -> _Read:
        """A quantifier; greedy or lazy makes no difference to whether there is a match.

        At the end of a pattern, it never backtracks.
        """
        least, most = self._times()
        if (least, most) == (1, 1):
            return _Read(character, 1, _one_way)
        self._accept("?")
        times = f"{{{least},{'' if most == inf else int(most)}}}"
        return _Read(
            source=character + times,
            size=2 + least,
            paths=lambda length, last: 1 if last else max(1, min(most, length) - least + 1),
        )

    def _times(self) -> tuple[int, float]:
        sign = self._rest[:1]
        if sign in _SIGNS:
            self._rest = self._rest[1:]
            return _SIGNS[sign]
        if sign != "{":
            return 1, 1
        quantifier = _TIMES.match(self._rest)
        if quantifier is None:
            raise _NotPlain
        self._rest = self._rest[quantifier.end() :]
        least = int(quantifier[1])
        most = int(quantifier[3]) if quantifier[3] else inf if quantifier[2] else least
        if least > MOST_TIMES or most < least or (most != inf and most > MOST_TIMES):
            raise _NotPlain
        return least, most

    def _character(self) -> str:
        """One character or a set of them."""
        sign = self._next()
        if sign == ".":
            return self._dot
        if sign == "[":
            return self._set()
        if sign == "\\":
            sign = self._next()
            return _CLASSES.get(sign) or _CONTROLS.get(sign) or self._escaped(sign)
        if sign in "*+?{}]":
            raise _NotPlain
        return self._literal(sign)

    def _set(self) -> str:
        negated = "^" if self._accept("^") else ""
        members: list[str] = []
        while not self._accept("]"):
            members.append(self._member())
        if not members:
            raise _NotPlain
        return f"[{negated}{''.join(members)}]"

    def _member(self) -> str:
        if self._accept("\\"):
            sign = self._next()
            if self._is_range():
                raise _NotPlain
            return _CLASSES[sign][1:-1] if sign in "dws" else _CONTROLS.get(sign) or self._escaped(sign)
        first = self._next()
        if self._is_range():
            self._next()
            return self._range(first, self._next())
        return self._literal(first)

    def _is_range(self) -> bool:
        return self._rest.startswith("-") and not self._rest.startswith("-]")

    @staticmethod
    def _range(first: str, last: str) -> str:
        for kind in (str.isdigit, str.islower, str.isupper):
            if (first + last).isascii() and kind(first) and kind(last) and first <= last:
                return f"{first}-{last}"
        raise _NotPlain

    @staticmethod
    def _escaped(sign: str) -> str:
        """A literal punctuation mark."""
        if not sign.isascii() or sign.isalnum() or not sign.isprintable() or sign == "_":
            raise _NotPlain
        return f"\\{sign}"

    def _literal(self, sign: str) -> str:
        """Beyond ASCII, the two languages ignore case differently."""
        if not sign.isprintable() or sign > "\uffff" or (self._ignores_case and not sign.isascii()):
            raise _NotPlain
        return re.escape(sign)

    def _accept(self, text: str) -> bool:
        """Whether `text` comes next; then it is behind us."""
        if not self._rest.startswith(text):
            return False
        self._rest = self._rest[len(text) :]
        return True

    def _next(self) -> str:
        if not self._rest:
            raise _NotPlain
        sign, self._rest = self._rest[0], self._rest[1:]
        return sign
