"""Traces in OTLP with spans of model calls: JSON, JSON Lines, or protobuf, as collectors write them to files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from runevals.imports.logs.conversations import (
    Log,
    LoggedMessage,
    LoggedRequest,
    as_messages,
    conversations_of,
    messages_of,
    records_of,
)
from runevals.imports.results.opened import OpenedResults
from runevals.lib.parsing.json_forms import json_in
from runevals.lib.parsing.shapes import list_in
from runevals.programs.otlp_spans import JSON, PROTOBUF, Span, read_spans, require_library
from runevals.records.errors import InvalidDocument, UsageError

NAME = "otlp"
KINDS = (("resourceSpans",),)
MODEL_CALLS = ("chat", "text_completion", "generate_content")
_INDEXED = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,6})\.(\w+)")


def is_protobuf(content: bytes) -> bool:
    """Whether this begins as an export in protobuf does: with a field 1, after a length in files of collectors."""
    return (content[:1] == b"\n" and b"gen_ai." in content) or (content[4:5] == b"\n" and content[:1] == b"\0")


def read(file: OpenedResults) -> Log:
    """Each export of the file, in JSON."""
    requests: list[LoggedRequest] = []
    for record in records_of(file):
        requests += _requests(json.dumps(record.value).encode(), JSON, record.place)
    return _log(requests)


def read_protobuf(content: bytes, display_path: str) -> Log:
    """One export, or several, each after its length in four bytes. Raises InvalidDocument."""
    try:
        require_library()
    except ImportError:
        raise UsageError("OTLP in protobuf needs: pip install 'runevals[otlp]'") from None
    requests: list[LoggedRequest] = []
    for number, export in enumerate(_exports(content, display_path), start=1):
        requests += _requests(export, PROTOBUF, f"{display_path}: export {number}")
    return _log(requests)


def _exports(content: bytes, display_path: str) -> Iterator[bytes]:
    if content[:1] == b"\n":
        yield content
        return
    at = 0
    while at < len(content):
        length = int.from_bytes(content[at : at + 4], "big")
        if at + 4 + length > len(content) or not length:
            raise InvalidDocument(f"{display_path}: byte {at}: the export that begins here is incomplete")
        yield content[at + 4 : at + 4 + length]
        at += 4 + length


def _spans(export: bytes, content_type: str, place: str) -> list[Span]:
    try:
        return read_spans(export, content_type)
    except ValueError as error:
        raise InvalidDocument(f"{place}: {error}") from None


def _log(requests: Sequence[LoggedRequest]) -> Log:
    if not requests:
        raise UsageError(
            "the file has no span of a model call with messages (gen_ai.input.messages); instruments leave them "
            "out unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT or the like is set"
        )
    return conversations_of(requests)


def _requests(export: bytes, content_type: str, place: str) -> Iterator[LoggedRequest]:
    for span in sorted(_spans(export, content_type, place), key=lambda span: span.started_at):
        if span.attributes.get("gen_ai.operation.name", "chat") in MODEL_CALLS:
            messages = tuple(_messages(span.attributes, "input", "prompt", "user"))
            if messages:
                answered = () if span.failed else _messages(span.attributes, "output", "completion", "assistant")
                system = json_in(span.attributes.get("gen_ai.system_instructions"))
                first = [one for one in messages_of([{"role": "system", "parts": list_in(system)}]) if one.text]
                at = f"{place}, span {span.id}"
                yield LoggedRequest(place=at, messages=(*first, *messages), answers=tuple(answered))


def _messages(attributes: Mapping[str, object], name: str, former: str, role: str) -> Iterator[LoggedMessage]:
    """The messages under their present name, or as older instruments write them."""
    present = json_in(attributes.get(f"gen_ai.{name}.messages", attributes.get(f"gen_ai.{former}")))
    if present is not None:
        yield from as_messages(present, role)
        return
    numbered: dict[int, dict[str, object]] = {}
    for key, value in attributes.items():
        match = _INDEXED.fullmatch(key)
        if match is not None and match[1] == former:
            numbered.setdefault(int(match[2]), {})[match[3]] = value
    yield from messages_of([{"role": role, **fields} for _, fields in sorted(numbered.items())])
