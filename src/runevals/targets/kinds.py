"""Every kind of target by the type that users write, and the module that says all of it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from runevals.models.chat.providers import PROVIDERS
from runevals.records.agent import AGENTS
from runevals.targets.kind import TargetSettings

# In the order of messages. A module has its settings as KIND, and is imported when they are needed.
KINDS: Mapping[str, str] = {
    **dict.fromkeys(PROVIDERS, "openai"),
    **{name: name for name in ("http", "a2a", "command", "python", "recorded", "skill")},
    **dict.fromkeys(AGENTS, "agents.settings"),
    "plugin": "plugin",
}


def kind_of(name: str) -> type[TargetSettings]:
    """The settings of a kind."""
    return cast("type[TargetSettings]", import_module(f"runevals.targets.{KINDS[name]}").KIND)


def forms() -> tuple[str, ...]:
    """How each kind is written as one text."""
    return tuple(f"{name}:{form}" if (form := kind_of(name).form) else name for name in KINDS)
