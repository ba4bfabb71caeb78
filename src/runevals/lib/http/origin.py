"""Whose an address is: scheme, host and port."""

from __future__ import annotations

from urllib.parse import urlsplit

OPENAI_URL = "https://api.openai.com/v1"  # where calls to chat models go that name no address


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, the port left out where it is the usual one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    usual = parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme))
    return f"{parts.scheme}://{shown}" if usual else f"{parts.scheme}://{shown}:{parts.port}"
