"""Requests to chat models and their responses, a JSON object a line, in the form of OpenAI's API."""

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
from runevals.lib.parsing.shapes import text_in
from runevals.suites.dialects.signatures import has_any

NAME = "openai-log"
_REQUESTS = ("request", "body", "kwargs")
_RESPONSES = ("response.body", "response", "body", "output", "completion", "result")
# The first choice of a response, or what it put out: of the record itself, or of what it has under these keys.
_WHAT = ("choices.0.message", "output")
_ANSWER = "|".join((_WHAT[0], *(f"{of}.{what}" for of in _RESPONSES for what in _WHAT), *_RESPONSES))


def _anywhere(key: str) -> str:
    return "|".join((key, *(f"{of}.{key}" for of in _REQUESTS)))


KINDS = ((_anywhere("messages"),), (_anywhere("input"), _anywhere("model")))


def read(file: OpenedResults) -> Log:
    """A record is a request with its response, in one object or in `request` and `response`."""
    return conversations_of(map(_request, records_of(file)))


def _request(record: Json) -> LoggedRequest | str:
    request = next(filter(_is_request, (record, *map(record.__getitem__, _REQUESTS))), None)
    if request is None:
        return "no messages of a request"
    answers = tuple(as_messages(record.at(_ANSWER).value, "assistant"))
    return LoggedRequest(place=record.place, messages=tuple(_messages(request)), answers=answers)


def _is_request(value: Json) -> bool:
    return has_any(value.value, "messages") or all(has_any(value.value, key) for key in ("input", "model"))


def _messages(request: Json) -> Iterator[LoggedMessage]:
    yield from as_messages(text_in(request["instructions"].value) or None, "system")
    yield from as_messages(request.at("messages|input").value, "user")
