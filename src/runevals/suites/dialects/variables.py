"""The values of variables in suites, as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from runevals.evaluators.text.numbers import number_text
from runevals.lib.parsing.shapes import is_number


def as_text(value: object) -> str:
    """A value as text for a prompt: text unchanged, empty for null, JSON for lists and objects."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return number_text(value) if is_number(value) else json.dumps(value, ensure_ascii=False)


def texts_of(values: Mapping[str, object]) -> dict[str, str]:
    """Name → text; members of an object have their own names, `user.name`, beside the object as JSON."""
    return dict(_texts(values, ""))


def _texts(values: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        yield f"{prefix}{name}", as_text(value)
        if isinstance(value, Mapping):
            yield from _texts(value, f"{prefix}{name}.")
