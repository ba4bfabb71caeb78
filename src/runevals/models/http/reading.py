"""Reads the body of a response within a limit of size and of total time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

PIECE = 65536  # bytes


class TooLarge(Exception):
    """The body is larger than the limit."""


class TooSlow(Exception):
    """The body was not complete in time."""


def read_limited(pieces: Iterable[bytes], max_bytes: int, deadline: float) -> bytes:
    """All pieces together; `deadline` is on the monotonic clock. Raises TooLarge, TooSlow.

    The timeout of a request counts from one byte to the next: without a deadline, a server that sends one byte
    at a time holds the job.
    """
    content = bytearray()
    for piece in pieces:
        content += piece
        if len(content) > max_bytes:
            raise TooLarge
        if time.monotonic() > deadline:
            raise TooSlow
    return bytes(content)


def pieces(raw: Any) -> Iterator[bytes]:
    """The decoded body of a urllib3 response; each piece as soon as it has arrived, however small it is."""
    while piece := raw.read1(PIECE, decode_content=True):
        yield piece
