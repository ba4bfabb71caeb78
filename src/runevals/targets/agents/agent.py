"""What the command lines of coding agents have in common, and what each says of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from runevals.records.agent import MCP
from runevals.targets.agents.stream import Reader

if TYPE_CHECKING:
    from runevals.targets.mcp_mocks import Offer


class AgentSettings(Struct, frozen=True, kw_only=True, gc=False):
    """What an agent may use, and what it is given."""

    model: str | None = None
    timeout_s: float = 120.0  # for a turn
    tools: tuple[str, ...] = ()  # names of TOOLS, and mcp:SERVER; nothing else is permitted
    skills: tuple[Path, ...] = ()  # folders with a SKILL.md
    servers: Mapping[str, Mapping[str, object]] = {}  # MCP servers by name
    mocked: tuple[str, ...] = ()  # the agent's names of the tools of servers that answer by mocks
    args: tuple[str, ...] = ()  # more options of its command line
    env: tuple[str, ...] = ()  # names of variables that it is given beside its key

    def has(self, tool: str) -> bool:
        """Whether this tool is permitted."""
        return tool in self.tools

    def names_of(self, tools: Mapping[str, tuple[str, ...]], skill: str | None) -> list[str]:
        """The agent's own names of what is permitted: `tools` by our names, and its tool that loads skills."""
        names = [name for tool, its_names in tools.items() if self.has(tool) for name in its_names]
        return names if skill is None else [*names, skill]

    @property
    def permitted_servers(self) -> Mapping[str, Mapping[str, object]]:
        """The MCP servers that `tools` names."""
        return {name: server for name, server in self.servers.items() if f"{MCP}{name}" in self.tools}


class Ask(Struct, frozen=True, kw_only=True):
    """One turn that an agent is asked."""

    prompt: str
    model: str | None = None
    session: str | None = None  # of the turn before
    settings: AgentSettings
    environment: Mapping[str, str] = {}  # that the agent is started with
    brings_skills: bool = False  # its workspace does

    @property
    def has_skills(self) -> bool:
        """Whether there are skills that it may load."""
        return self.brings_skills or bool(self.settings.skills)


class Agent(ABC):
    """One kind of agent."""

    name: ClassVar[str]  # as users write it
    program: ClassVar[str]
    package: ClassVar[str]  # of npm
    skills: ClassVar[str]  # the folder below HOME where it looks for skills
    tools: ClassVar[Mapping[str, tuple[str, ...]]]  # its own names of those that settings permit
    server_tool: ClassVar[str] = "mcp__{}__{}"  # how it names a tool of a server
    of_workspace: ClassVar[tuple[str, ...]] = ()  # the folders of a workspace where it looks for skills, too
    reader: ClassVar[type[Reader]]  # of one event stream
    keys: ClassVar[tuple[str, ...]]  # the variables that hold its key
    places: ClassVar[tuple[str, ...]]  # the variables that say where its model is
    our_options: ClassVar[tuple[str, ...]]  # what we set, or what would undo it; `-c KEY` is a key of its settings
    harmless_options: ClassVar[tuple[str, ...]] = ()  # their values are texts and numbers for the model
    own_environment: ClassVar[str] = ""  # a file of the workspace that would set its variables, whatever we say

    @abstractmethod
    def arguments(self, ask: Ask) -> list[str]:
        """The options of its command line, the prompt included."""

    def with_mocks(self, settings: AgentSettings, offer: Offer) -> AgentSettings:
        """The servers of mocks beside those tools that no mock answers."""
        covers = offer.mocks.covers
        left = [tool for tool in settings.tools if not any(map(covers, (tool, *self.tools.get(tool, ()))))]
        return replace(
            settings,
            tools=tuple(dict.fromkeys([*left, *(f"{MCP}{name}" for name in offer.servers)])),
            servers={**settings.servers, **offer.servers},
            mocked=tuple(offer.tools(self.server_tool)),
        )

    def cannot(self, settings: AgentSettings) -> str | None:  # noqa: ARG002
        """Which of these permissions it cannot keep to, and what to write; None if it can."""
        return None

    def home(self, settings: AgentSettings, environment: Mapping[str, str]) -> Mapping[str, str]:  # noqa: ARG002
        """The files of its HOME: path → text."""
        return {}

    def variables(self, home: Path) -> Mapping[str, str]:  # noqa: ARG002
        """The variables that it is started with beside those of the user; `home` is the attempt's."""
        return {}


def option(name: str, value: str | None) -> list[str]:
    """An option of a command line with its value; none without one."""
    return [name, value] if value else []


def install(agent: Agent) -> str:
    """How its command line is installed."""
    return f"npm install -g {agent.package}"
