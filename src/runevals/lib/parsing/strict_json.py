"""What JSON may not contain."""

from __future__ import annotations

from math import isinf

from runevals.lib.parsing.limits import LIMITS


def refuse_constant(name: str) -> float:
    """For `parse_constant` of `json.loads`: NaN and Infinity are not JSON. Raises ValueError."""
    raise ValueError(f"{name} is not a JSON number")


def finite(text: str) -> float:
    """For `parse_float`. Raises ValueError for a number that is too large."""
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def require_few_values(text: str, most: int = LIMITS.long_document_values) -> None:
    """Raises ValueError for JSON of more values than fit in memory."""
    if len(text) > most and sum(map(text.count, "[{,")) > most:
        raise ValueError(f"it has more than {most // 10**6} million values")


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
