"""Retired targets and judges: an error in a change's settings, ignored in the base's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runevals.lib.parsing.source import Source
from runevals.records import FileProblem

GITHUB_MODELS = "github-models"
RETIRED = "GitHub Models was retired on 2026-07-30; name another endpoint, see docs/running.md#targets"
_NAMING = ("target", "judge", "judges")


def retired_in(source: Source) -> Iterator[FileProblem]:
    """A problem for each retired target or judge of a settings file."""
    if not isinstance(source.value, dict):
        return
    for key in _NAMING:
        value = source.value.get(key)
        for place, one in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if _is_retired(one):
                whole = (key,) if place is None else (key, place)
                yield source.problem((*whole, "type") if isinstance(one, dict) else whole, RETIRED)


def without_retired(value: Any) -> Any:
    """The base's settings without retired targets and judges, so that a change which replaces them can run."""
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key not in _NAMING or not _names_retired(item)}


def _names_retired(value: object) -> bool:
    return any(map(_is_retired, value)) if isinstance(value, list) else _is_retired(value)


def _is_retired(value: object) -> bool:
    if isinstance(value, Mapping):
        return value.get("type") == GITHUB_MODELS
    return isinstance(value, str) and value.partition(":")[0] == GITHUB_MODELS
