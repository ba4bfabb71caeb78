"""Different JSON texts of one value, and the value of one that may be another text."""

from __future__ import annotations

import json

_STARTS = ("{", "[", "n", b"{", b"[", b"n")


def json_forms(value: object) -> list[str]:
    """With and without spaces after separators, and with non-ASCII characters unchanged and escaped.

    For searches, because the spacing and escaping of the searched text is unknown.
    """
    return [
        json.dumps(value, ensure_ascii=escaped, separators=separators, default=str)
        for separators in ((", ", ": "), (",", ":"))
        for escaped in (False, True)
    ]


def json_in(value: object) -> object:
    """The object, list or null of which this is a JSON text; anything else as it is."""
    if not isinstance(value, str | bytes | bytearray) or value.lstrip()[:1] not in _STARTS:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
