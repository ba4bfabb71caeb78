"""The ways in which programs write one value as JSON."""

from __future__ import annotations

import json


def json_forms(value: object) -> list[str]:
    """With and without spaces after its marks, and characters beyond ASCII as they are and escaped.

    Whoever looks for a piece of JSON in it cannot know how it is spaced and escaped.
    """
    return [
        json.dumps(value, ensure_ascii=escaped, separators=separators, default=str)
        for separators in ((", ", ": "), (",", ":"))
        for escaped in (False, True)
    ]
