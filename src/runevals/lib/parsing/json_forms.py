"""Different JSON texts of one value, and the value of one that may be another text."""

from __future__ import annotations

import json
from typing import Any


def json_forms(value: object) -> list[str]:
    """With and without spaces after separators, and with non-ASCII characters unchanged and escaped.

    For searches, because the spacing and escaping of the searched text is unknown.
    """
    return [
        json.dumps(value, ensure_ascii=escaped, separators=separators, default=str)
        for separators in ((", ", ": "), (",", ":"))
        for escaped in (False, True)
    ]


def json_in(value: Any) -> Any:
    """The object, list or null of which this is a JSON text; anything else as it is."""
    try:
        inner = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return value
    return value if isinstance(inner, str | int | float) else inner


def text_or_json(value: object) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
