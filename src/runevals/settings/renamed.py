"""Settings under names that they had in earlier versions: read, with a notice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_RENAMED: Mapping[tuple[str, ...], str] = {
    ("on_inconclusive",): "on_unknown",
    ("baseline", "on_incomparable"): "on_unknown",
    ("suspects", "max_runs"): "fresh_runs",
}


def with_new_names(value: Any) -> tuple[Any, tuple[str, ...]]:
    """The values of a settings file under today's names, and a sentence on each that has another.

    A value under today's name goes before one under an earlier name.
    """
    notices = []
    for path, name in _RENAMED.items():
        old, rest = _taken(value, path)
        if old is not None:
            value = {name: old, **rest}
            notices.append(f"the setting {'.'.join(path)} is now called {name}")
    return value, tuple(notices)


def _taken(value: Any, path: tuple[str, ...]) -> tuple[Any, Any]:
    """(what is at this path, the values without it); None if nothing is."""
    first, *inner = path
    if not isinstance(value, dict) or first not in value:
        return None, value
    if not inner:
        return value[first], {name: item for name, item in value.items() if name != first}
    old, rest = _taken(value[first], tuple(inner))
    others = {name: item for name, item in value.items() if name != first or rest}
    return old, {**others, first: rest} if rest else others
