"""How the command line of a coding agent is started."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

AgentName = Literal["claude-code", "codex", "copilot", "gemini-cli"]
TOOLS = ("shell", "read", "write", "web")  # and mcp:SERVER
MCP = "mcp:"

# The variables that hold an agent's key, and those that say where its model is.
AGENT_KEYS: Mapping[str, tuple[str, ...]] = {
    "claude-code": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    "codex": ("CODEX_API_KEY", "OPENAI_API_KEY"),
    "copilot": ("COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"),
    "gemini-cli": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
AGENT_PLACES: Mapping[str, tuple[str, ...]] = {
    "claude-code": ("ANTHROPIC_BASE_URL",),
    "codex": ("OPENAI_BASE_URL",),
    "copilot": (
        *("COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_WIRE_API", "COPILOT_MODEL"),
        *("COPILOT_OFFLINE", "GH_HOST", "COPILOT_GH_HOST"),
    ),
    "gemini-cli": ("GOOGLE_GEMINI_BASE_URL",),
}
AGENTS: tuple[str, ...] = tuple(AGENT_KEYS)
# Options of command lines that we set, or that would undo what we set. `-c KEY` is a key of Codex's settings.
OUR_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "claude-code": (
        *("-p", "--print", "--input-format", "--output-format", "--setting-sources", "--settings", "--model"),
        *(
            "--permission-mode",
            "--tools",
            "--allowedTools",
            "--allowed-tools",
            "--mcp-config",
            "--strict-mcp-config",
        ),
        *("-r", "--resume", "-c", "--continue", "--dangerously-skip-permissions"),
        "--allow-dangerously-skip-permissions",
    ),
    "codex": (
        *(
            "--json",
            "--skip-git-repo-check",
            "--enable",
            "--disable",
            "-m",
            "--model",
            "-s",
            "--sandbox",
            "--yolo",
        ),
        *("-a", "--ask-for-approval", "--full-auto", "--dangerously-bypass-approvals-and-sandbox", "-c features"),
        *(
            "-c sandbox_mode",
            "-c sandbox_workspace_write",
            "-c approval_policy",
            "-c web_search",
            "-c mcp_servers",
        ),
        *("-c model", "-c model_provider", "-c model_providers", "-c openai_base_url", "-c notify"),
    ),
    "copilot": (
        *("-p", "--prompt", "--output-format", "--available-tools", "--disable-builtin-mcps", "--no-auto-update"),
        *("--allow-all", "--allow-all-tools", "--allow-all-urls", "--yolo", "--model", "--resume", "--continue"),
        "--additional-mcp-config",
    ),
    "gemini-cli": (
        *("-p", "--prompt", "-i", "--prompt-interactive", "-o", "--output-format", "--skip-trust", "-y", "--yolo"),
        *("--approval-mode", "--allowed-tools", "--allowed-mcp-server-names", "-m", "--model", "-r", "--resume"),
    ),
}
# Options whose value is only a text or a number for the model: a change may bring them.
HARMLESS_OPTIONS: Mapping[str, frozenset[str]] = {
    "claude-code": frozenset(
        {
            "--append-system-prompt",
            "--effort",
            "--fallback-model",
            "--max-budget-usd",
            "--max-turns",
            "--system-prompt",
        }
    ),
    "codex": frozenset({"-c model_reasoning_effort", "-c model_reasoning_summary", "-c model_verbosity"}),
    "copilot": frozenset(),
    "gemini-cli": frozenset(),
}

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
