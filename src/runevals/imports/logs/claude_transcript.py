"""Transcripts of Claude Code: a line for each message of a session."""

from __future__ import annotations

import re
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
    sessions: dict[str, tuple[str, list[LoggedMessage]]] = {}
    left_out: list[str] = []
    for record in (one for one in records_of(file) if one["type"].value in ("user", "assistant")):
        if record["isSidechain"].value is True:
            left_out.append("messages of subagents")
        elif not any(record[name].value is True for name in ("isMeta", "isCompactSummary")) and (
            messages := _messages(record)
        ):
            sessions.setdefault(str(record["sessionId"].value), (record.place, []))[1].extend(messages)
    requests = [LoggedRequest(place=place, messages=tuple(messages)) for place, messages in sessions.values()]
    return conversations_of([*left_out, *requests])


def _messages(record: Json) -> list[LoggedMessage]:
    """Its message; one of tool results only is not a message, and neither is one of the program itself."""
    message = record["message"].value
    if not isinstance(message, Mapping):
        raise record["message"].wrong("an object")
    return [
        one
        for one in messages_of([message])
        if (one.text is None or one.text.strip() or one.calls) and not _OF_PROGRAM.match((one.text or "").strip())
    ]
