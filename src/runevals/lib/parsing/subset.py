"""Whether one JSON value is a part of another."""

from __future__ import annotations


def is_subset(part: object, whole: object) -> bool:
    """Whether everything in `part` is in `whole`, at any depth; lists are as long, and true is not 1."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and is_subset(value, whole[key]) for key, value in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(is_subset, part, whole))
    return isinstance(part, bool) is isinstance(whole, bool) and part == whole
