"""Gemini CLI: `gemini -p`."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runevals.targets.agents.agent import Agent, AgentSettings, Ask, option
from runevals.targets.agents.stream import Event, Reader, text_or_none, usage_of

_TOOLS = {
    "shell": ("run_shell_command", "list_background_processes", "read_background_output"),
    "read": ("list_directory", "read_file", "read_many_files", "grep_search", "glob"),
    "write": ("replace", "write_file"),
    "web": ("web_fetch", "google_web_search"),
}
_REFUSALS = ("tool_not_registered", "policy_violation")
_TOKENS = ("input_tokens", "output_tokens", "cached", "thoughts")


@dataclass(slots=True)
class _Reader(Reader):
    """Reads `-o stream-json`."""

    _whole: bool = True  # the last message is, so that another one begins anew

    def see(self, event: Event) -> None:
        match event.get("type"):
            case "init":
                self.session = text_or_none(event.get("session_id"), "the session")
                self.model = text_or_none(event.get("model"), "the model")
            case "message" if event.get("role") == "assistant":
                self.add_text(event["content"] if self._whole else self.text + event["content"])
                self._whole = not event.get("delta")
            case "tool_use":
                self._whole = True
                self.called(event["tool_id"], event["tool_name"], event.get("parameters"))
            case "tool_result":
                self.returned(event["tool_id"], event.get("output"), ok=event.get("status") == "success")
                if (event.get("error") or {}).get("type") in _REFUSALS:
                    self.refuse(event["tool_id"])
            case "result":
                self.finished = True
                self.usage = usage_of(event.get("stats") or {}, *_TOKENS)
                if event.get("status") != "success":
                    self.error = str((event.get("error") or {}).get("message"))
            case _:
                pass


_SETTINGS = ".gemini/settings.json"
_NO_SERVER = f"none-{secrets.token_hex(8)}"  # a name that no server of a workspace has


class GeminiCli(Agent):
    """`tools.core` of its settings restricts; `--yolo` only spares the question."""

    name = "gemini-cli"
    program = "gemini"
    package = "@google/gemini-cli"
    skills = ".gemini/skills"
    own_environment = ".gemini/.env"  # its only file that its settings do not switch off
    reader = _Reader
    tools = _TOOLS
    server_tool = "mcp_{}_{}"
    keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    places = ("GOOGLE_GEMINI_BASE_URL",)
    our_options = (
        *("-p", "--prompt", "-i", "--prompt-interactive", "-o", "--output-format", "--skip-trust", "-y", "--yolo"),
        *("--approval-mode", "--allowed-tools", "--allowed-mcp-server-names", "-m", "--model", "-r", "--resume"),
    )

    def arguments(self, ask: Ask) -> list[str]:
        """It trusts the workspace: else it would not look at its skills."""
        servers = ask.settings.permitted_servers
        return [
            *ask.settings.args,
            *("--skip-trust", f"--prompt={ask.prompt}", "-o", "stream-json", "--yolo"),
            *(f"--allowed-mcp-server-names={name}" for name in servers or (_NO_SERVER,)),
            *option("-m", ask.model),
            *option("--resume", ask.session),
        ]

    def home(self, settings: AgentSettings, environment: Mapping[str, str]) -> Mapping[str, str]:  # noqa: ARG002
        """Its settings: it asks with a key, and uses the tools that are named."""
        settings_file = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "tools": {
                "core": [
                    *settings.names_of(_TOOLS, "activate_skill" if settings.skills else None),
                    *(f"mcp_{name}_*" for name in settings.permitted_servers),
                ],
                "discoveryCommand": "",
                "callCommand": "",
                "sandbox": False,
            },
            "hooksConfig": {"enabled": settings.has("shell")},
            "telemetry": {"enabled": False},
            "advanced": {"ignoreLocalEnv": True},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "mcpServers": dict(settings.permitted_servers),
        }
        return {_SETTINGS: json.dumps(settings_file)}

    def variables(self, home: Path) -> Mapping[str, str]:
        """Its settings stand above those of the workspace, which could permit other tools."""
        return {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(home / _SETTINGS)}
