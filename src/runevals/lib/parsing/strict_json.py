"""What JSON texts may not contain, for `json.loads`."""

from __future__ import annotations

from math import isinf

MOST_VALUES = 30_000_000  # of one JSON text, roughly: each takes up to 30 times the memory of its text


def refuse_constant(name: str) -> float:
    """For `parse_constant`: NaN and Infinity are not JSON. Raises ValueError."""
    raise ValueError(f"{name} is not a JSON number")


def finite(text: str) -> float:
    """For `parse_float`. Raises ValueError for a number that is too large."""
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def require_few_values(text: str) -> None:
    """Raises ValueError for JSON of more values than fit in memory."""
    if len(text) > MOST_VALUES and sum(map(text.count, "[{,")) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES // 10**6} million values")
