"""Texts that say nothing to look for."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

_WRITE = "write the text, or look for spaces with regex"


def is_blank(text: str) -> bool:
    """Whether a text is empty, or spaces alone; a line break or a tab is something to look for."""
    return all(unicodedata.category(character) == "Zs" for character in text)


def found_anywhere(text: str) -> str | None:
    """Why hardly any response lacks an expected text, which is white space alone; None for another one."""
    if not text:
        return "the empty text stands in every response"
    return None if text.strip() else "it is blank, and white space stands in nearly every response"


def value_problems(value: str, why_empty: str) -> Iterator[tuple[str | None, str]]:
    """What keeps the option `value` from being a text to look for."""
    if not value:
        yield "value", f"value is empty; {why_empty}"
    elif is_blank(value):
        yield "value", f"value is blank; {_WRITE}"


def values_problems(values: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """What keeps the option `values` from being texts to look for."""
    if "" in values:
        yield "values", "values holds the empty text, which stands in every response"
    elif any(map(is_blank, values)):
        yield "values", f"values holds a blank text; {_WRITE}"
