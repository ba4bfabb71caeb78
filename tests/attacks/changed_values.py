"""A JSON document with another value at one of its places."""

from __future__ import annotations

from copy import deepcopy


def places(value, place=()):
    """Where something is, once for all entries of a list."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value[:1]):
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from places(item, (*place, key))


def put(document, place, value):
    """A copy of the document with this value there."""
    made = deepcopy(document)
    *holders, last = place
    inside = made
    for key in holders:
        inside = inside[key]
    inside[last] = value
    return made
