"""Event streams that the real agents printed, and answers read from streams."""

from __future__ import annotations

import json
from pathlib import Path

from runevals.records import Response
from runevals.targets.agents import AGENTS
from runevals.targets.agents.stream import Stream

STREAMS = Path(__file__).with_name("streams")


def recorded(agent: str, name: str) -> bytes:
    """What an agent printed: `write` with one shell call, `refused` with one that was not permitted."""
    return (STREAMS / f"{agent}.{name}.jsonl").read_bytes()


def read(agent: str, output: bytes) -> Response:
    """The answer in this output, which comes in small pieces."""
    stream = Stream(AGENTS[agent].reader())
    for start in range(0, len(output), 1000):
        stream.feed(output[start : start + 1000])
    stream.end()
    return stream.outcome(1.0, None)


def lines(*events: object) -> bytes:
    """Events as an agent prints them."""
    return "".join(json.dumps(event) + "\n" for event in events).encode()
