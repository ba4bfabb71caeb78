"""Copilot CLI: `copilot -p`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import astuple

from runevals.lib.nullable import known, whole_total
from runevals.records.agent import MCP
from runevals.targets.agents.agent import Agent, AgentSettings, Ask, option
from runevals.targets.agents.stream import Event, Reader, Usage, text_or_none, usage_of
from runevals.targets.program_report import skills

_TOOLS = {
    "shell": ("bash", "read_bash", "stop_bash", "list_bash", "write_bash"),
    "read": ("view", "grep", "glob"),
    "write": ("create", "edit"),
    "web": ("web_fetch", "web_search"),
}
_TOKENS = ("inputTokens", "outputTokens", "cacheReadTokens", "reasoningTokens")
_UNKNOWN_TOOL = "does not exist"
_NONE = "none"  # an empty list would mean all tools; no tool has this name


@dataclass(slots=True)
class _Reader(Reader):
    """Reads `--output-format json`."""

    def see(self, event: Event) -> None:
        data = event.get("data") or {}
        match event.get("type"):
            case "session.skills_loaded":
                self.skills = skills([skill["name"] for skill in data.get("skills", ())])
            case "assistant.message":
                self.model = text_or_none(data.get("model"), "the model") or self.model
                if data.get("content"):
                    self.add_text(data["content"])
            case "assistant.turn_start":
                self.turns = (self.turns or 0) + 1
            case "assistant.usage":
                both = zip(
                    astuple(self.usage), astuple(usage_of(data, *_TOKENS)), strict=True
                )  # of one more request
                self.usage = Usage(*(whole_total(known(amounts)) for amounts in both))
            case "tool.execution_start":
                self.called(data["toolCallId"], data["toolName"], data.get("arguments"))
            case "tool.execution_complete":
                result, error = data.get("result") or {}, data.get("error") or {}
                output = result.get("content", error.get("message"))
                self.returned(data["toolCallId"], output, ok=data.get("success"))
                if error.get("code") in ("denied", "rejected") or _UNKNOWN_TOOL in str(error.get("message")):
                    self.refuse(data["toolCallId"])
            case "result":
                self.finished = True
                self.session = text_or_none(event.get("sessionId"), "the session")
                self.error = None if event.get("exitCode") == 0 else f"exit code {event.get('exitCode')}"
            case _:
                pass


class Copilot(Agent):
    """`--available-tools` restricts; `--allow-all-tools` only spares the question."""

    name = "copilot"
    program = "copilot"
    package = "@github/copilot"
    skills = ".copilot/skills"
    of_workspace = (".github/skills", ".claude/skills")
    reader = _Reader
    tools = _TOOLS
    server_tool = "{}-{}"
    keys = ("COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN")
    places = (
        *("COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_WIRE_API", "COPILOT_MODEL"),
        *("COPILOT_OFFLINE", "GH_HOST", "COPILOT_GH_HOST"),
    )
    our_options = (
        *("-p", "--prompt", "--output-format", "--available-tools", "--disable-builtin-mcps", "--no-auto-update"),
        *("--allow-all", "--allow-all-tools", "--allow-all-urls", "--yolo", "--model", "--resume", "--continue"),
        "--additional-mcp-config",
    )

    def cannot(self, settings: AgentSettings) -> str | None:
        """Servers: the names of their tools would have to be known before they are started."""
        if any(tool.startswith(MCP) for tool in settings.tools):
            return "its MCP servers cannot be restricted beside other tools; leave `mcp:…` out"
        return None

    def arguments(self, ask: Ask) -> list[str]:
        """Its built-in servers are off."""
        settings = ask.settings
        tools = [*settings.names_of(_TOOLS, "skill" if ask.has_skills else None), *settings.mocked]
        servers = {name: {**server, "tools": ["*"]} for name, server in settings.permitted_servers.items()}
        return [
            *settings.args,
            *(f"--prompt={ask.prompt}", "--output-format", "json", "--no-auto-update", "--disable-builtin-mcps"),
            *(f"--available-tools={','.join(tools or [_NONE])}", "--allow-all-tools"),
            f"--additional-mcp-config={json.dumps({'mcpServers': servers})}",
            *(("--allow-all-urls",) if settings.has("web") else ()),
            *option("--model", ask.model),
            *((f"--resume={ask.session}",) if ask.session else ()),
        ]

    def variables(self, home: Path) -> Mapping[str, str]:  # noqa: ARG002
        """It keeps to its version."""
        return {"COPILOT_AUTO_UPDATE": "false"}
