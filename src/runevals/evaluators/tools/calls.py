"""What the tools evaluators share: finding calls by the names that a suite uses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Literal

from runevals.evaluators.kinds import Subject
from runevals.records import Problem, ToolCall

NO_TRACE = Problem(code="evidence_missing", message="the target does not report its tool calls")


def calls_of(subject: Subject) -> tuple[ToolCall, ...] | Problem:
    """The answer's tool calls; a problem where the target reports none at all."""
    return NO_TRACE if subject.response.tool_calls is None else subject.response.tool_calls


def same_tool(called: str, wanted: str) -> bool:
    """Whether a call is of the tool that a suite names; capitals do not count, nor does a server's prefix.

    `mcp__docs__fetch` and `docs.fetch` are found by those names and by `fetch`.
    """
    called, wanted = called.casefold(), wanted.casefold()
    return called == wanted or any(called.rpartition(mark)[2] == wanted for mark in ("__", ".", "/"))


def of_tool(calls: Sequence[ToolCall], tool: str) -> list[ToolCall]:
    """The calls of one tool."""
    return [call for call in calls if same_tool(call.name, tool)]


def unreported(calls: Sequence[ToolCall], what: Literal["input", "output"]) -> Problem | None:
    """A problem where one of `calls` does not say its input or output: then it may have held anything."""
    if all(getattr(call, what) is not None for call in calls):
        return None
    message = f"the target does not report the {what} of every call of {calls[0].name}"
    return Problem(code="evidence_missing", message=message)


def split(value: str) -> tuple[str, str]:
    """`Tool:needle` at its first colon; the needle may hold more."""
    tool, _, needle = value.partition(":")
    return tool.strip(), needle


def value_problems(value: str) -> Iterator[tuple[str | None, str]]:
    """What keeps a text from being `Tool:needle`."""
    tool, needle = split(value)
    if not tool or not needle:
        yield "value", f"value is {value!r}; it must be Tool:text"


def input_texts(call: ToolCall) -> list[str]:
    """The input's own texts and numbers, and all of it as JSON."""
    found = list(_leaves(call.input))
    return [*found, json.dumps(call.input, ensure_ascii=False, default=str)]


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield str(value)
