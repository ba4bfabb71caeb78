"""Conversations as logs have them, before they become cases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults
from runevals.lib.parsing.shapes import entries_of, object_in, objects_in, text_in
from runevals.suites.dialects.signatures import has_any

MOST_RECORDS = 20  # by which a format is recognised
TEXT_PARTS = ("text", "input_text", "output_text")


class LoggedMessage(Struct, frozen=True, kw_only=True):
    """One message; None for content that is not only text."""

    role: str
    text: str | None
    calls: tuple[str, ...] = ()  # of tools, each as NAME(ARGUMENTS)


class LoggedTurn(Struct, frozen=True, kw_only=True):
    """What a user said, what was answered, and the tool calls in between."""

    prompt: str
    answer: str | None = None
    calls: tuple[str, ...] = ()


class LoggedConversation(Struct, frozen=True, kw_only=True):
    """One conversation; `place` is where the log has it."""

    place: str
    turns: tuple[LoggedTurn, ...]
    system: str = ""


class LoggedRequest(Struct, frozen=True, kw_only=True):
    """The messages of one request, and those that the model answered."""

    place: str
    messages: tuple[LoggedMessage, ...]
    answers: tuple[LoggedMessage, ...] = ()


class Log(Struct, frozen=True, kw_only=True):
    """What was read of a file; `left_out` counts the records that are not conversations, by the reason."""

    conversations: tuple[LoggedConversation, ...]
    left_out: Mapping[str, int]


def records_of(file: OpenedResults) -> list[Json]:
    """The records of a file: its lines, the entries of its list or of `data`, or the document itself."""
    if file.rows is not None or file.document is None:
        return list(file.rows or ())
    page = file.document.at("data|.")
    return page.entries if isinstance(page.value, list) else [file.document]


def has_any_of(file: OpenedResults, kinds: Sequence[Sequence[str]]) -> bool:
    """Whether one of the first records has all keys of one of these kinds, which tells formats apart."""
    records = records_of(file)[:MOST_RECORDS]
    return any(all(has_any(one.value, key) for key in keys) for one in records for keys in kinds)


def as_messages(value: object, role: str) -> Iterator[LoggedMessage]:
    """Messages, a message, or a text as one of this role."""
    if isinstance(value, str):
        yield LoggedMessage(role=role, text=value)
    yield from messages_of([value] if isinstance(value, Mapping) else value)


def messages_of(value: object) -> Iterator[LoggedMessage]:
    """Messages in the form of chat completions, of the Responses API, or of the conventions for generative AI."""
    for item in objects_in(value):
        if item.get("type") == "function_call":
            yield LoggedMessage(
                role="assistant", text="", calls=(call_text(item.get("name"), item.get("arguments")),)
            )
        elif isinstance(role := item.get("role"), str):
            parts = item.get("parts")
            text = text_of(parts if isinstance(parts, list) else item.get("content"))
            yield LoggedMessage(role=role, text=text, calls=tuple(_calls(item)))


def text_of(content: object) -> str | None:
    """The text of a message's content; None if it holds more than text."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for part in entries_of(content):
        fields = part if isinstance(part, Mapping) else {"type": "text", "text": part}
        if fields.get("type", "text") in TEXT_PARTS:
            texts.append(text_in(fields.get("text", fields.get("content"))))
        elif fields.get("type") in ("image", "image_url", "input_image", "file", "input_file", "blob", "uri"):
            return None
    return "\n".join(filter(None, texts))


def call_text(name: object, arguments: object) -> str:
    """A tool call for a reader."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return f"{name}({'' if arguments is None else text})"


def conversations_of(records: Iterable[LoggedRequest | str]) -> Log:
    """The requests as conversations: one that only begins another one is a step of it, and is left out.

    A text says why the reader of the format left out a record.
    """
    read = list(records)
    requests = [one for one in read if isinstance(one, LoggedRequest)]
    begun = {hash_ for request in requests for hash_ in list(_hashes(request.messages))[:-1]}
    counts = Counter(one for one in read if isinstance(one, str))
    conversations = []
    for request in requests:
        hashes = list(_hashes(request.messages))
        if hashes and hashes[-1] in begun:
            counts["steps of a longer conversation"] += 1
        elif (reason := _unusable(request.messages)) is not None:
            counts[reason] += 1
        else:
            conversations.append(_conversation(request))
    return Log(conversations=tuple(conversations), left_out=counts)


def _calls(item: Mapping[str, object]) -> Iterator[str]:
    for call in objects_in(item.get("tool_calls")):
        if function := object_in(call.get("function", call)):
            yield call_text(function.get("name"), function.get("arguments", function.get("args")))
    for part in (*objects_in(item.get("parts")), *objects_in(item.get("content"))):
        if part.get("type") in ("tool_call", "tool_use"):
            yield call_text(part.get("name"), part.get("arguments", part.get("input")))


def _hashes(messages: Sequence[LoggedMessage]) -> Iterator[int]:
    """One for each beginning of a conversation."""
    value = 0
    for message in messages:
        value = hash((value, message))
        yield value


def _unusable(messages: Sequence[LoggedMessage]) -> str | None:
    users = [message for message in messages if message.role == "user"]
    if any(message.text is None for message in users):
        return "messages that are more than text"
    return None if any((message.text or "").strip() for message in users) else "no message of a user"


def _conversation(request: LoggedRequest) -> LoggedConversation:
    turns: list[LoggedTurn] = []
    system = []
    for message in (*request.messages, *request.answers):
        text, calls = _encodable(message.text or "").strip(), tuple(map(_encodable, message.calls))
        if message.role in ("system", "developer"):
            system.append(text)
        elif message.role == "user":
            if text:
                turns.append(LoggedTurn(prompt=text))
        elif message.role in ("assistant", "model") and turns:
            turn = turns[-1]
            turns[-1] = replace(turn, answer=text or turn.answer, calls=(*turn.calls, *calls))
    return LoggedConversation(place=request.place, turns=tuple(turns), system="\n".join(system))


def _encodable(text: str) -> str:
    """Text without halves of surrogate pairs, which JSON may have and no file in UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
