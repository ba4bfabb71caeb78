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
    json_in,
    messages_of,
    records_of,
)
from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults

NAME = "langfuse"
_TYPES = (
    "GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
)  # fmt: skip
_QUESTIONS = ("question", "query", "prompt", "message", "input", "text", "user_input")


def recognises(file: OpenedResults) -> bool:
    """Observations with a type and a trace, or traces with input and output."""
    return any(_is_observation(fields) or _is_trace(fields) for fields in first_fields(file))


def read(file: OpenedResults) -> Log:
    """Each generation is a request; a trace without observations is one itself."""
    requests = []
    left_out: Counter[str] = Counter()
    for record in _generations(records_of(file)):
        messages = tuple(_messages(record["input"].value))
        if messages:
            answers = () if record["level"].value == "ERROR" else tuple(_answers(record["output"].value))
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
        fields = record.fields
        observations = record["observations"].entries if isinstance(fields.get("observations"), list) else []
        inner = [
            one for one in observations if isinstance(one.value, dict) and one.fields.get("type") == "GENERATION"
        ]
        if inner:
            yield from inner
        elif fields.get("type") in (None, "GENERATION"):
            yield record


def _messages(value: object) -> Iterator[LoggedMessage]:
    value = json_in(value)
    if isinstance(value, Mapping):
        if isinstance(value.get("messages"), list):
            value = value["messages"]
        else:
            value = next((value[name] for name in _QUESTIONS if isinstance(value.get(name), str)), None)
    if isinstance(value, str):
        yield LoggedMessage(role="user", text=value)
    yield from messages_of(value)


def _answers(value: object) -> Iterator[LoggedMessage]:
    value = json_in(value)
    if isinstance(value, Mapping):
        choices = value.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
            value = choices[0].get("message")
        names = ("content", "answer", "output", "response", "text")
        if isinstance(value, Mapping) and "role" not in value:
            value = next((value[name] for name in names if isinstance(value.get(name), str)), None)
    if isinstance(value, str):
        yield LoggedMessage(role="assistant", text=value)
    yield from messages_of(value if isinstance(value, list) else [value])
