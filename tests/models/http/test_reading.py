"""A body is read within a limit of size and of total time."""

from __future__ import annotations

import time

import pytest
import urllib3

from runevals.models.http.reading import TooLarge, TooSlow, pieces, read_limited
from tests.json_server import Answer, json_server


def test_pieces_are_joined_up_to_the_limit():
    later = time.monotonic() + 60
    assert read_limited([b"ab", b"c"], 3, later) == b"abc"
    with pytest.raises(TooLarge):
        read_limited([b"ab", b"cd"], 3, later)


def test_a_body_that_arrives_byte_by_byte_ends_at_the_deadline():
    with json_server(lambda *_: Answer(raw=b"x" * 100_000, drip_s=0.01)) as server:
        reply = urllib3.request("GET", server.url, preload_content=False, timeout=30)
        start = time.monotonic()
        with pytest.raises(TooSlow):
            read_limited(pieces(reply), 10**6, start + 0.3)
        reply.close()
        assert time.monotonic() - start < 60  # all of it takes 1000
