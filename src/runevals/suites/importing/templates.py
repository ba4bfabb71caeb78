"""Nunjucks templates, as far as they only put values in: what computes is refused, never guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runevals.suites.dialects.variables import VARIABLE, as_text, filled


class NotPlain(Exception):
    """A template that computes; the message says by what."""


def rendered(text: str, values: Mapping[str, Any]) -> str:
    """`text` with the values in it; an unknown one is empty, as in Nunjucks. Raises NotPlain."""
    rest = VARIABLE.sub("", text)
    for opening, what in (("{%", "a tag"), ("{{", "a filter or an expression"), ("{#", "a comment")):
        if opening in rest:
            at = rest.index(opening)
            raise NotPlain(f"the template has {what}, {' '.join(rest[at : at + 40].split())!r}")
    if any(name.startswith("env.") for name in VARIABLE.findall(text)):
        raise NotPlain("the template reads the environment")
    flat = dict(_flat(values, ""))
    missing = filled(text, flat)[1]
    return filled(text, {**dict.fromkeys(missing, ""), **flat})[0]


def _flat(value: Any, prefix: str) -> Iterator[tuple[str, str]]:
    """`a.b` for what stands in objects, and each object itself as JSON."""
    for name, item in value.items():
        yield f"{prefix}{name}", as_text(item)
        if isinstance(item, Mapping):
            yield from _flat(item, f"{prefix}{name}.")
