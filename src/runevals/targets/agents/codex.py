"""Codex: `codex exec`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from runevals.targets.agents.agent import Agent, AgentSettings, Ask, option
from runevals.targets.agents.stream import Event, Reader, text_of, usage_of

_TOOLS = {"shell": ("shell", "exec_command"), "write": ("apply_patch",), "web": ("web_search",)}
# Its tools besides the shell, which no setting permits.
_OFF = ("view_image", "multi_agent", "apps", "plugins", "image_generation", "browser_use", "computer_use")
_SHELL = ("shell_tool", "unified_exec")
_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_output_tokens")


@dataclass(slots=True)
class _Reader(Reader):
    """Reads `--json`."""

    def see(self, event: Event) -> None:
        match event.get("type"):
            case "thread.started":
                self.session = text_of(event["thread_id"], "the session")
            case "item.started" | "item.completed":
                self._item(event["item"], completed=event["type"] == "item.completed")
            case "turn.completed":
                self.finished = True
                self.usage = usage_of(event.get("usage") or {}, *_TOKENS)
            case "turn.failed":
                self.finished = True
                self.error = str((event.get("error") or {}).get("message"))
            case _:
                pass

    def _item(self, item: Event, *, completed: bool) -> None:
        call = _call(item)
        if call is not None:
            name, arguments = call
            if item["id"] not in self._calls:
                self.called(item["id"], name, arguments)
            if completed:
                ok = item.get("status") in (None, "completed") and item.get("exit_code") in (None, 0)
                output = item.get("aggregated_output", item.get("result") or item.get("error"))
                self.returned(item["id"], output, ok=ok)
                if item.get("status") == "declined":
                    self.refuse(item["id"])
        elif completed and item["type"] == "agent_message":
            self.add_text(item["text"])


def _call(item: Event) -> tuple[str, object] | None:
    """(name, input) of an item that is a tool call."""
    match item["type"]:
        case "command_execution":
            return "shell", {"command": item["command"]}
        case "file_change":
            return "apply_patch", {"changes": item.get("changes")}
        case "mcp_tool_call":
            return f"mcp__{item['server']}__{item['tool']}", item.get("arguments")
        case "web_search":
            return "web_search", {"query": item.get("query")}
        case _:
            return None


class Codex(Agent):
    """Its shell runs in a sandbox: read-only, unless `write` is named. It reads files with its shell."""

    name = "codex"
    program = "codex"
    package = "@openai/codex"
    skills = ".codex/skills"
    reader = _Reader
    tools = _TOOLS
    keys = ("CODEX_API_KEY", "OPENAI_API_KEY")
    places = ("OPENAI_BASE_URL",)
    our_options = (
        *("--json", "--skip-git-repo-check", "--enable", "--disable", "-m", "--model", "-s", "--sandbox"),
        *("-a", "--ask-for-approval", "--full-auto", "--dangerously-bypass-approvals-and-sandbox", "-c features"),
        *("-c sandbox_mode", "-c sandbox_workspace_write", "-c approval_policy", "-c web_search"),
        *("-c mcp_servers", "-c model", "-c model_provider", "-c model_providers", "-c openai_base_url"),
        *("-c notify", "--yolo"),
    )
    harmless_options = ("-c model_reasoning_effort", "-c model_reasoning_summary", "-c model_verbosity")

    def cannot(self, settings: AgentSettings) -> str | None:
        """Reading and writing without the shell."""
        for tool in ("read", "write"):
            if settings.has(tool) and not settings.has("shell"):
                return f"it can {tool} files only with its shell; name `shell` too"
        return None

    def arguments(self, ask: Ask) -> list[str]:
        """Options of `codex exec`, or of `codex exec resume`."""
        settings = ask.settings
        writes = settings.has("write")
        web = "live" if settings.has("web") else "disabled"
        off = _OFF if settings.has("shell") else (*_OFF, *_SHELL)
        return [
            *("exec", *(("resume",) if ask.session else ()), *settings.args, "--json", "--skip-git-repo-check"),
            *(option for feature in off for option in ("--disable", feature)),
            *("-c", f'sandbox_mode="{"workspace-write" if writes else "read-only"}"', "-c", f'web_search="{web}"'),
            # Its own temporary folder is enough; in /tmp, it leaves an empty `.git` if it is killed.
            *("-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", 'approval_policy="never"'),
            *option("-m", ask.model),
            *("--", *((ask.session,) if ask.session else ()), ask.prompt),
        ]

    def home(self, settings: AgentSettings, environment: Mapping[str, str]) -> Mapping[str, str]:
        """The provider of OPENAI_BASE_URL, and the MCP servers: it takes both from a file only."""
        place = environment.get("OPENAI_BASE_URL")
        key = "CODEX_API_KEY" if environment.get("CODEX_API_KEY") else "OPENAI_API_KEY"
        lines = []
        if place:
            provider = {"name": "runevals", "base_url": place, "env_key": key, "wire_api": "responses"}
            lines += ['model_provider = "runevals"', "[model_providers.runevals]", *_toml(provider)]
        for name, server in settings.permitted_servers.items():
            env = server.get("env")
            lines += [f"[mcp_servers.{_quoted(name)}]"]
            lines += _toml({key: value for key, value in server.items() if key in ("command", "args", "url")})
            lines += [f"[mcp_servers.{_quoted(name)}.env]", *_toml(env)] if isinstance(env, Mapping) else []
        return {".codex/config.toml": "\n".join([*lines, ""])} if lines else {}


def _toml(values: Mapping[str, object]) -> list[str]:
    """Texts and lists of texts; JSON is TOML there."""
    return [f"{name} = {_quoted(value)}" for name, value in values.items()]


def _quoted(value: object) -> str:
    """JSON is TOML if no character is written as two surrogates, and U+007F is escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
