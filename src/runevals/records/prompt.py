"""The prompt template of a target, before the variables of a case are filled in."""

from __future__ import annotations

from runevals.records.quick_dataclass import dataclass
from runevals.records.trace import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """Messages with `{{name}}` in them, the last one of the user; `display_path` is that of their file."""

    display_path: str
    messages: tuple[Message, ...]
