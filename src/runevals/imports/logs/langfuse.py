"""Exports of Langfuse: traces and observations, as JSON or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator

from runevals.imports.logs.conversations import (
    Log,
    LoggedMessage,
    LoggedRequest,
    as_messages,
    conversations_of,
    records_of,
)
from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults
from runevals.lib.parsing.json_forms import json_in

NAME = "langfuse"
KINDS = (  # of observations, of traces with them, and of others
    ("type", "traceId|trace_id"), ("observations.[]",), ("input", "output", "sessionId|session_id|userId|user_id"),
)  # fmt: skip
# Where an input has its messages, or the text of the user; `.` is the input itself.
_INPUT = "messages|question|query|prompt|message|input|text|user_input|."
_OUTPUT = "choices.0.message|."
_TEXT = "content|answer|output|response|text|."


def read(file: OpenedResults) -> Log:
    """Each generation is a request; a trace without observations is one itself."""
    return conversations_of(map(_request, _generations(records_of(file))))


def _request(record: Json) -> LoggedRequest | str:
    messages = tuple(as_messages(_parsed(record["input"]).at(_INPUT).value, "user"))
    if not messages:
        return "inputs that are not messages"
    answers = () if record["level"].value == "ERROR" else tuple(_answers(record))
    return LoggedRequest(place=record.place, messages=messages, answers=answers)


def _generations(records: list[Json]) -> Iterator[Json]:
    for record in records:
        inner = [one for one in record["observations"].each if one.at("type").value == "GENERATION"]
        if inner or record["type"].value in (None, "GENERATION"):
            yield from inner or [record]


def _answers(record: Json) -> Iterator[LoggedMessage]:
    answer = _parsed(record["output"]).at(_OUTPUT)
    is_message = answer.at("role").value is not None
    yield from as_messages(answer.value if is_message else answer.at(_TEXT).value, "assistant")


def _parsed(value: Json) -> Json:
    return Json(json_in(value.value), value.file, value.pointer)
