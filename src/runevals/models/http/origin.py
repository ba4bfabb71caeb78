"""Whose an address is: scheme, host and port."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

OPENAI_URL = "https://api.openai.com/v1"  # the default address of chat models

_PLAIN_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")  # nothing that leads up, is filled in or decoded


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, without the default port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host_text = f"[{host}]" if ":" in host else host
    usual = parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme))
    return f"{parts.scheme}://{host_text}" if usual else f"{parts.scheme}://{host_text}:{parts.port}"


def without_credentials(url: str) -> str:
    """An address without user, password, query and fragment, which may be secrets. Raises ValueError for none."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def is_at(url: str, place: str) -> bool:
    """Whether an address is that of `place`, or plainly below its path. Raises ValueError for none.

    Tenants of one gateway share a host, and a root is the root of them all: nothing is below it.
    """
    if origin_of(url) != origin_of(place):
        return False
    path, root = (urlsplit(one).path.rstrip("/") for one in (url, place))
    below = path.removeprefix(root)
    return path == root or (bool(root) and below != path and _PLAIN_PATH.fullmatch(below) is not None)
