"""The prompt that a target is asked with, before a case's variables are in it."""

from __future__ import annotations

from dataclasses import dataclass

from runevals.records.trace import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """Messages with `{{name}}` in them, the last of them the user's; `shown` is the file that they are from."""

    shown: str
    messages: tuple[Message, ...]
