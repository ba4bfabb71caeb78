"""The prompt template of a target, before the variables of a case are filled in."""

from __future__ import annotations

from msgspec import Struct

from runevals.records.trace import Message


class PromptTemplate(Struct, frozen=True, kw_only=True, gc=False):
    """Messages with `{{name}}` in them, the last one of the user; `display_path` is that of their file."""

    display_path: str
    messages: tuple[Message, ...]
