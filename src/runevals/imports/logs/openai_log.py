"""Requests to chat models and their responses, a JSON object a line, in the form of OpenAI's API."""

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
from runevals.imports.results.opened import OpenedResults

NAME = "openai-log"
_REQUESTS = ("request", "body", "kwargs")
_RESPONSES = ("response", "body", "output", "completion", "result")


def recognises(file: OpenedResults) -> bool:
    """Messages or input of a request, or a response beside a request; also batch files."""
    return any(_request_in(fields) is not None for fields in first_fields(file))


def read(file: OpenedResults) -> Log:
    """A record is a request with its response, in one object or in `request` and `response`."""
    requests = []
    left_out: Counter[str] = Counter()
    for record in records_of(file):
        fields = record.fields
        request = _request_in(fields)
        if request is None:
            left_out["no messages of a request"] += 1
            continue
        messages = tuple(_messages(request))
        requests.append(LoggedRequest(place=record.place, messages=messages, answers=tuple(_answers(fields))))
    return conversations_of(requests, left_out)


def _request_in(fields: Mapping[str, object]) -> Mapping[str, object] | None:
    for one in (fields, *(fields.get(name) for name in _REQUESTS)):
        if isinstance(one, Mapping) and ("messages" in one or ("input" in one and "model" in one)):
            return one
    return None


def _messages(request: Mapping[str, object]) -> Iterator[LoggedMessage]:
    instructions = request.get("instructions")
    if isinstance(instructions, str):
        yield LoggedMessage(role="system", text=instructions)
    content = request.get("messages", request.get("input"))
    if isinstance(content, str):
        yield LoggedMessage(role="user", text=content)
    yield from messages_of(content)


def _answers(fields: Mapping[str, object]) -> Iterator[LoggedMessage]:
    """The first choice of a response, or what it put out."""
    for one in (fields, *(fields.get(name) for name in _RESPONSES)):
        if isinstance(one, str):
            yield LoggedMessage(role="assistant", text=one)
            return
        if not isinstance(one, Mapping):
            continue
        inner = one.get("body") if isinstance(one.get("body"), Mapping) else one
        if not isinstance(inner, Mapping):
            continue
        choices, output = inner.get("choices"), inner.get("output")
        if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
            yield from messages_of([choices[0].get("message")])
            return
        if isinstance(output, list):
            yield from messages_of(output)
            return
        if one is not fields and isinstance(inner.get("role"), str):
            yield from messages_of([inner])
            return
