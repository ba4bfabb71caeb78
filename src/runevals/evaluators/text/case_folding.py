"""Texts as they are compared: with their capitals, or without."""

from __future__ import annotations


def folded(text: str, *, case_sensitive: bool) -> str:
    """`text`, in small letters where case is ignored."""
    return text if case_sensitive else text.lower()
