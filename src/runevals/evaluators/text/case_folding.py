"""Case folding for comparisons."""

from __future__ import annotations


def folded(text: str, *, case_sensitive: bool) -> str:
    """`text`, in lower case if case is ignored."""
    return text if case_sensitive else text.lower()
