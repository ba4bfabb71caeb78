"""Every kind of target by the type that users write, and the module that says all of it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from runevals.models.chat.providers import PROVIDERS
from runevals.records.agent import AGENTS
from runevals.targets.kind import TargetSettings

# In the order of messages. The module of a kind is imported when it is needed.
KINDS: Mapping[str, str] = {
    **dict.fromkeys(PROVIDERS, "openai.ModelTargetSettings"),
    "http": "http.HttpSettings",
    "a2a": "a2a.A2ASettings",
    "command": "command.CommandSettings",
    "python": "python.PythonSettings",
    "recorded": "recorded.RecordedSettings",
    "skill": "skill.SkillSettings",
    **dict.fromkeys(AGENTS, "agents.settings.AgentTargetSettings"),
    "plugin": "plugin.PluginSettings",
}


def kind_of(name: str) -> type[TargetSettings]:
    """The settings of a kind."""
    module, _, settings = KINDS[name].rpartition(".")
    return cast("type[TargetSettings]", getattr(import_module(f"runevals.targets.{module}"), settings))


def forms() -> tuple[str, ...]:
    """How each kind is written as one text."""
    return tuple(f"{name}:{form}" if (form := kind_of(name).form) else name for name in KINDS)
