"""What JSON texts may not contain, for `json.loads`."""

from __future__ import annotations

from math import isinf


def refuse_constant(name: str) -> float:
    """For `parse_constant`: NaN and Infinity are not JSON. Raises ValueError."""
    raise ValueError(f"{name} is not a JSON number")


def finite(text: str) -> float:
    """For `parse_float`. Raises ValueError for a number that is too large."""
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number
