"""Templates of JSON: texts in them may hold `{{placeholders}}` for what a call is about."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


def placeholders(written: object) -> Iterator[str]:
    """The names in all texts of a template, in order."""
    if isinstance(written, str):
        yield from _PLACEHOLDER.findall(written)
    elif isinstance(written, Mapping):
        for item in written.values():
            yield from placeholders(item)
    elif isinstance(written, list):
        for item in written:
            yield from placeholders(item)


def filled(written: object, known: Mapping[str, object]) -> object:
    """The template with its values in place.

    A text that is one placeholder and nothing else becomes the value itself, and a field whose value is unknown
    (None) is left out; inside a longer text, a value is written as text.
    """
    if isinstance(written, str):
        alone = _PLACEHOLDER.fullmatch(written)
        return value_of(alone[1], known) if alone else filled_text(written, known)
    if isinstance(written, Mapping):
        made = {key: filled(item, known) for key, item in written.items()}
        return {key: item for key, item in made.items() if item is not None or written[key] is None}
    return [filled(item, known) for item in written] if isinstance(written, list) else written


def filled_text(written: str, known: Mapping[str, object], escape: Callable[[str], str] = str) -> str:
    """A text with its values in place, each escaped; what is unknown leaves nothing."""
    return _PLACEHOLDER.sub(lambda match: escape(_as_text(value_of(match[1], known))), written)


def value_of(name: str, known: Mapping[str, object]) -> object:
    """What `a.b.c` names in `known`, None where there is nothing."""
    found: object = known
    for word in name.split("."):
        found = found.get(word) if isinstance(found, Mapping) else None
    return found


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
