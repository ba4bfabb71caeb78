"""Transcripts of Claude Code: a line for each message of a session."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from runevals.imports.logs.conversations import (
    Log,
    LoggedMessage,
    LoggedRequest,
    conversations_of,
    messages_of,
    records_of,
)
from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults

NAME = "claude-transcript"
KINDS = (("sessionId", "type"),)
# Texts that the program writes in the user's name.
_OF_PROGRAM = re.compile(
    r"<(?:command-name|command-message|local-command-\w+|system-reminder|bash-\w+|task-notification)>"
    r"|Caveat: The messages below|\[Request interrupted by user"
)


def read(file: OpenedResults) -> Log:
    """A session is a conversation; messages of subagents and of the program itself are left out."""
    sessions: dict[str, list[LoggedMessage]] = {}
    places: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    for record in records_of(file):
        fields = record.fields
        if fields.get("type") not in ("user", "assistant"):
            continue
        if fields.get("isSidechain") is True:
            left_out["messages of subagents"] += 1
            continue
        if fields.get("isMeta") is True or fields.get("isCompactSummary") is True:
            continue
        session = str(fields.get("sessionId"))
        messages = [
            message for message in _messages(record) if not _OF_PROGRAM.match((message.text or "").strip())
        ]
        if messages:
            places.setdefault(session, record.place)
            sessions.setdefault(session, []).extend(messages)
    requests = [LoggedRequest(place=places[key], messages=tuple(messages)) for key, messages in sessions.items()]
    return conversations_of(requests, left_out)


def _messages(record: Json) -> list[LoggedMessage]:
    """Its message; one of tool results only is not a message."""
    message = record["message"].value
    if not isinstance(message, Mapping):
        raise record["message"].wrong("an object")
    return [one for one in messages_of([message]) if one.text is None or one.text.strip() or one.calls]
