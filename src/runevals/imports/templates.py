"""Nunjucks templates, as far as they only put values in: what computes is refused, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runevals.lib.text.variables import fill_variables, other_markup, variables_in
from runevals.suites.dialects.variables import texts_of


class NotPlain(Exception):
    """A template that computes; the message says by what."""


def variables_of(text: str) -> tuple[str, ...]:
    """The names of the variables in `text`. Raises NotPlain for a template that has more than these."""
    markup = other_markup(text, comments=True)
    if markup is not None:
        at, what = markup
        raise NotPlain(f"the template has {what}, {' '.join(text[at : at + 40].split())!r}")
    names = tuple(variables_in(text))
    if any(name.startswith("env.") for name in names):
        raise NotPlain("the template reads the environment")
    return names


def rendered(text: str, values: Mapping[str, Any]) -> str:
    """`text` with the values in it; an unknown one is empty, as in Nunjucks. Raises NotPlain."""
    return fill_variables(text, {**dict.fromkeys(variables_of(text), ""), **texts_of(values)})[0]
