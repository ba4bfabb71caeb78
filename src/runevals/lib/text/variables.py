"""`{{name}}` in texts, and the values that are filled in for them."""

from __future__ import annotations

import re
from collections.abc import Mapping

VARIABLE = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
_OTHER_MARKUP: Mapping[str, str] = {"{{": "a filter or an expression", "{%": "a tag", "{#": "a comment"}


def variables_in(text: str) -> list[str]:
    """The variables in `text`, in order, each once."""
    return list(dict.fromkeys(VARIABLE.findall(text)))


def fill_variables(text: str, values: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """(`text` with each variable's value in its place, the variables without a value, which stay unchanged).

    It is scanned once: variables inside of values are not expanded.
    """
    missing: dict[str, None] = {}

    def value_of(match: re.Match[str]) -> str:
        if match[1] not in values:
            missing[match[1]] = None
        return values.get(match[1], match[0])

    return VARIABLE.sub(value_of, text), tuple(missing)


def other_markup(text: str, *, comments: bool) -> tuple[int, str] | None:
    """(offset, description) of the first template markup that is not a variable, or None."""
    rest = VARIABLE.sub(lambda match: " " * len(match[0]), text)
    matches = [(rest.find(mark), what) for mark, what in _OTHER_MARKUP.items() if comments or mark != "{#"]
    return min((item for item in matches if item[0] >= 0), default=None)
