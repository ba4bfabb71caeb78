"""`{{name}}` in texts of suites, and the values that stand for it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from runevals.evaluators.text.numbers import number_text

VARIABLE = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")


def filled(text: str, values: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """(`text` with each variable's value in its place, the variables without one, which stay as they are).

    It is read once: what a value holds is never taken for a variable.
    """
    missing: dict[str, None] = {}

    def value_of(match: re.Match[str]) -> str:
        if match[1] not in values:
            missing[match[1]] = None
        return values.get(match[1], match[0])

    return VARIABLE.sub(value_of, text), tuple(missing)


def as_text(value: object) -> str:
    """A value as it stands in a prompt: text as it is, nothing for null, JSON for lists and objects."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)
