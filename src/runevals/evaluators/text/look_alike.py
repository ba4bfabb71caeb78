"""Why two texts that look alike are not the same."""

from __future__ import annotations

import operator
import unicodedata

_HIDDEN = ("Zs", "Cf", "Mn", "Cc")  # kinds of characters that are not seen, or are a part of another
MOST_NAMED = 3


def look_alike(expected: str, text: str, *, whole: bool = False) -> str:
    """A hint if `text` has `expected`, or is it, but for characters that are not seen or written otherwise."""
    plain, plain_text = _plain(expected), _plain(text)
    fits = operator.eq if whole else operator.contains
    if not plain or not fits(plain_text, plain):
        return ""
    chars = dict.fromkeys(char for char in f"{text}{expected}" if not char.isascii())
    odd = [c for c in chars if unicodedata.category(c) in _HIDDEN or unicodedata.normalize("NFKD", c) != c]
    names = [f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip() for char in odd][:MOST_NAMED]
    return f" (the response looks the same; it differs in {', '.join(names) or 'white space'})"


def _plain(text: str) -> str:
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    return " ".join(text.split())
