"""What the command lines of coding agents have in common, and what each says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from runevals.records.agent import AgentSettings
from runevals.targets.agents.stream import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One turn that an agent is asked."""

    prompt: str
    model: str | None = None
    session: str | None = None  # of the turn before
    settings: AgentSettings
    environment: Mapping[str, str] = field(default_factory=dict)  # that the agent is started with


class Agent(Protocol):
    """One kind of agent."""

    name: str  # as users write it
    program: str
    package: str  # of npm
    skills: str  # the folder below HOME where it looks for skills

    def cannot(self, settings: AgentSettings) -> str | None:
        """Which of these permissions it cannot keep to, and what to write; None if it can."""

    def arguments(self, ask: Ask) -> list[str]:
        """The options of its command line, the prompt included."""

    def home(self, settings: AgentSettings, environment: Mapping[str, str]) -> Mapping[str, str]:
        """The files of its HOME: path → text."""

    def variables(self, home: Path) -> Mapping[str, str]:
        """The variables that it is started with beside those of the user; `home` is the attempt's."""

    def reader(self) -> Reader:
        """A reader of one event stream."""


def install(agent: Agent) -> str:
    """How its command line is installed."""
    return f"npm install -g {agent.package}"
