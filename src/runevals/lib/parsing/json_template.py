"""JSON templates with `{{placeholders}}` in their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from runevals.lib.parsing.json_forms import text_or_json
from runevals.lib.parsing.shapes import object_in

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


def placeholders(template: object) -> Iterator[str]:
    """The names in all texts of a template, in order."""
    if isinstance(template, str):
        yield from map(str.strip, _PLACEHOLDER.findall(template))
    elif isinstance(template, Mapping | list):
        for item in template.values() if isinstance(template, Mapping) else template:
            yield from placeholders(item)


def fill(template: object, values: Mapping[str, object]) -> object:
    """The template with its values filled in.

    A text that is one placeholder and nothing else becomes the value itself, and a field whose value is unknown
    (None) is left out; inside a longer text, a value is written as text.
    """
    if isinstance(template, str):
        alone = _PLACEHOLDER.fullmatch(template)
        return value_of(alone[1], values) if alone else fill_text(template, values)
    if isinstance(template, Mapping):
        fields = {key: fill(item, values) for key, item in template.items()}
        return {key: item for key, item in fields.items() if item is not None or template[key] is None}
    return [fill(item, values) for item in template] if isinstance(template, list) else template


def fill_text(template: str, values: Mapping[str, object], escape: Callable[[str], str] = str) -> str:
    """A text with its values filled in, each escaped; an unknown value becomes empty."""

    def text_of(match: re.Match[str]) -> str:
        value = value_of(match[1], values)
        return "" if value is None else escape(text_or_json(value))

    return _PLACEHOLDER.sub(text_of, template)


def value_of(name: str, values: Mapping[str, object]) -> object:
    """The value at `a.b.c` in `values`, or None."""
    value: object = values
    for word in name.strip().split("."):
        value = object_in(value).get(word)
    return value
