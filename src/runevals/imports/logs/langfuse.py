"""Exports of Langfuse: traces and observations, as JSON or JSON Lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from runevals.imports.logs.conversations import (
    Log,
    LoggedMessage,
    LoggedRequest,
    conversations_of,
    first_fields,
    messages_of,
    records_of,
)
from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults
from runevals.lib.parsing.json_forms import json_in

NAME = "langfuse"
_TYPES = (
    "GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
)  # fmt: skip
# Where an input has its messages, or the text of the user; `.` is the input itself.
_INPUT = "messages|question|query|prompt|message|input|text|user_input|."
_OUTPUT = "choices.0.message|."
_TEXT = "content|answer|output|response|text"


def recognises(file: OpenedResults) -> bool:
    """Observations with a type and a trace, or traces with input and output."""
    return any(_is_observation(fields) or _is_trace(fields) for fields in first_fields(file))


def read(file: OpenedResults) -> Log:
    """Each generation is a request; a trace without observations is one itself."""
    requests = []
    left_out: Counter[str] = Counter()
    for record in _generations(records_of(file)):
        messages = tuple(_as_messages(_parsed(record["input"]).at(_INPUT).value, "user"))
        if messages:
            answers = () if record["level"].value == "ERROR" else tuple(_answers(record))
            requests.append(LoggedRequest(place=record.place, messages=messages, answers=answers))
        else:
            left_out["inputs that are not messages"] += 1
    return conversations_of(requests, left_out)


def _is_observation(fields: Mapping[str, object]) -> bool:
    return fields.get("type") in _TYPES and ("traceId" in fields or "trace_id" in fields)


def _is_trace(fields: Mapping[str, object]) -> bool:
    return isinstance(fields.get("observations"), list) or (
        "input" in fields
        and "output" in fields
        and bool({"sessionId", "session_id", "userId", "user_id"} & fields.keys())
    )


def _generations(records: list[Json]) -> Iterator[Json]:
    for record in records:
        observations = record["observations"]
        entries = observations.entries if isinstance(observations.value, list) else []
        inner = [one for one in entries if one.at("type").value == "GENERATION"]
        if inner or record["type"].value in (None, "GENERATION"):
            yield from inner or [record]


def _answers(record: Json) -> Iterator[LoggedMessage]:
    answer = _parsed(record["output"]).at(_OUTPUT)
    if isinstance(answer.value, dict):
        yield from _as_messages([answer.value] if "role" in answer.value else answer.at(_TEXT).value, "assistant")
    else:
        yield from _as_messages(answer.value, "assistant")


def _parsed(value: Json) -> Json:
    return Json(json_in(value.value), value.file, value.pointer)


def _as_messages(value: object, role: str) -> Iterator[LoggedMessage]:
    """Messages, or a text as one of this role."""
    if isinstance(value, str):
        yield LoggedMessage(role=role, text=value)
    yield from messages_of(value)
