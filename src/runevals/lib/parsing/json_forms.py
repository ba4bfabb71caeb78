"""Different JSON texts of one value."""

from __future__ import annotations

import json


def json_forms(value: object) -> list[str]:
    """With and without spaces after separators, and with non-ASCII characters unchanged and escaped.

    For searches, because the spacing and escaping of the searched text is unknown.
    """
    return [
        json.dumps(value, ensure_ascii=escaped, separators=separators, default=str)
        for separators in ((", ", ": "), (",", ":"))
        for escaped in (False, True)
    ]
