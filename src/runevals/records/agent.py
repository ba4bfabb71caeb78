"""How the command line of a coding agent is started."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

AgentName = Literal["claude-code", "codex", "copilot", "gemini-cli"]
TOOLS = ("shell", "read", "write", "web")  # and mcp:SERVER
MCP = "mcp:"
AGENTS: tuple[str, ...] = get_args(AgentName)

# The files of a skill's measurement that lie in its folder or below `evals`.
SKILL_SUITE = "evals.json"
SKILL_TRIGGERS = tuple(
    f"{name}.json"
    for name in (
        *("trigger-evals", "trigger-eval", "trigger_evals", "trigger_eval", "trigger-queries", "trigger_queries"),
        *("eval_queries", "eval-queries"),
    )
)
# What tools write beside suites: results, and not what is measured.
SKILL_RESULTS = frozenset(
    {"grading.json", "benchmark.json", "eval_metadata.json", "timing.json", "feedback.json", "metrics.json"}
)


class AgentSettings(Struct, frozen=True, kw_only=True, gc=False):
    """What an agent may use, and what it is given."""

    model: str | None = None
    timeout_s: float = 120.0  # for a turn
    tools: tuple[str, ...] = ()  # names of TOOLS, and mcp:SERVER; nothing else is permitted
    skills: tuple[Path, ...] = ()  # folders with a SKILL.md
    servers: Mapping[str, Mapping[str, object]] = {}  # MCP servers by name
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
