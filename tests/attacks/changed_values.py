"""A JSON document with another value at one of its places."""

from __future__ import annotations

from copy import copy


def places(value, place=()):
    """Where something is, once for all entries of a list."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value[:1]):
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from places(item, (*place, key))


def put(document, place, value):
    """The document with this value there; all that is elsewhere is shared with it."""
    key, *further = place
    made = copy(document)
    made[key] = put(document[key], further, value) if further else value
    return made
