"""The depth of a JSON value."""

from __future__ import annotations


def nested_deeper(value: object, levels: int) -> bool:
    """Whether `value` has values within values on more than `levels` levels. It never recurses."""
    level: list[object] = [value]
    for _ in range(levels):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True
