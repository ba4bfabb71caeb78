"""Blank texts, which are not useful to search for."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from runevals.evaluators.kinds import Check

_WRITE = "write the text, or look for spaces with regex"


def is_blank(text: str) -> bool:
    """Whether a text is empty, or spaces alone; a line break or a tab is something to look for."""
    return all(unicodedata.category(character) == "Zs" for character in text)


def why_always_found(text: str) -> str | None:
    """Why nearly every response contains this blank expected text; None for other texts."""
    if not text:
        return "the empty text is in every response"
    return None if text.strip() else "it is blank, and white space is in nearly every response"


def value_problems(value: str, why_empty: str) -> Iterator[tuple[str | None, str]]:
    """What keeps the option `value` from being a text to look for."""
    if not value:
        yield "value", f"value is empty; {why_empty}"
    elif is_blank(value):
        yield "value", f"value is blank; {_WRITE}"


@dataclass(frozen=True, kw_only=True)
class ValuesCheck(Check):
    """Looks for several texts."""

    values: tuple[str, ...]

    def problems(self) -> Iterator[tuple[str | None, str]]:
        if "" in self.values:
            yield "values", "values has the empty text, which is in every response"
        elif any(map(is_blank, self.values)):
            yield "values", f"values has a blank text; {_WRITE}"
