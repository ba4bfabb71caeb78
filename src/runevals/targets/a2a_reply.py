"""An agent's messages and tasks as an answer. Imported only if an a2a target is used."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from a2a.types.a2a_pb2 import Message, Role, Task, TaskState
from google.protobuf.json_format import MessageToDict
from msgspec import Struct

from runevals.models.http.throttle import CallFailed
from runevals.records import Citation
from runevals.targets.program_report import citations, shallow


class AgentReply(Struct, frozen=True, kw_only=True):
    """An agent's reply so far. A plain message is `completed`."""

    state: str
    text: str
    value: object = None  # the JSON value of `text`, if the answer is only JSON
    citations: tuple[Citation, ...] | None = None
    context_id: str | None = None
    task_id: str | None = None


def of_message(message: Message) -> AgentReply:
    """The reply in a message. Raises CallFailed for values that a report cannot hold."""
    return _reply("completed", [message], context_id=message.context_id, task_id=None)


def of_task(task: Task) -> AgentReply:
    """The reply in a task: in its artifacts, otherwise in its status or its last message.

    Raises CallFailed for values that a report cannot hold.
    """
    state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
    last_messages = [message for message in task.history if message.role == Role.ROLE_AGENT][-1:]
    sources: tuple[list[Any], ...] = ([*task.artifacts], [task.status.message], last_messages)
    if state not in ("completed", "submitted", "working"):
        sources = sources[1:2]  # its final message or question, not partial artifacts
    source_messages = next((source for source in sources if any(each.parts for each in source)), [])
    return _reply(state, source_messages, context_id=task.context_id, task_id=task.id)


def _reply(state: str, sources: Iterable[Any], *, context_id: str, task_id: str | None) -> AgentReply:
    """The reply in messages or artifacts, joined."""
    parts = [part for source in sources for part in source.parts]
    text = "\n".join(part.text for part in parts if part.WhichOneof("content") == "text")
    values = [MessageToDict(part.data) for part in parts if part.WhichOneof("content") == "data"]
    value = None if text or not values else values[0] if len(values) == 1 else values
    try:
        value = _plain(shallow(value, "the answer"))
        return AgentReply(
            state=state,
            text=json.dumps(value, ensure_ascii=False) if value is not None else text,
            value=value,
            citations=_citations(sources, parts),
            context_id=context_id or None,
            task_id=task_id,
        )
    except ValueError as error:
        raise CallFailed("unparseable", str(error)) from error


def _plain(value: object) -> object:
    """A protobuf value as plain JSON: whole numbers as integers, keys sorted."""
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _citations(sources: Iterable[Any], parts: Iterable[Any]) -> tuple[Citation, ...] | None:
    """Sources beside the text: `citations` in the metadata, and files by their address."""
    items: list[Citation] = []
    for source in sources:
        items += citations(MessageToDict(source.metadata).get("citations")) or ()
    items += [
        Citation(text=part.filename, source=part.url) for part in parts if part.WhichOneof("content") == "url"
    ]
    return tuple(items) or None
