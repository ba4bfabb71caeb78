"""Claude Code: `claude -p`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runevals.lib.parsing.shapes import list_in, object_in, objects_in
from runevals.targets.agents.agent import Agent, Ask, option
from runevals.targets.agents.stream import Event, Reader, Usage, count, text_of, text_or_none
from runevals.targets.program_report import number, skills

_TOOLS = {
    "shell": ("Bash",),
    "read": ("Read", "Glob", "Grep"),
    "write": ("Edit", "Write", "NotebookEdit"),
    "web": ("WebFetch", "WebSearch"),
}
# Settings of a workspace that are commands; variables by which it would lead the key elsewhere.
_COMMANDS = ("apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper")
_PROVIDERS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
_PROXIES = (
    "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
)  # fmt: skip
_WAYS = (*_PROVIDERS, *_PROXIES, "NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "ANTHROPIC_UNIX_SOCKET")
_UNKNOWN_TOOL = "No such tool available"


@dataclass(slots=True)
class _Reader(Reader):
    """Reads `--output-format stream-json`."""

    def see(self, event: Event) -> None:
        match event.get("type"):
            case "system" if event.get("subtype") == "init":
                self.session = text_of(event["session_id"], "the session")
                self.model = text_or_none(event.get("model"), "the model")
                self.skills = skills(event.get("skills"))
                servers = event.get("mcp_servers") or ()
                self.failed_servers = frozenset(one["name"] for one in servers if one.get("status") == "failed")
            case "assistant":
                for part in event["message"]["content"]:
                    if part["type"] == "text" and event.get("parent_tool_use_id") is None:
                        self.add_text(part["text"])
                    elif part["type"] == "tool_use":
                        self.called(part["id"], part["name"], part.get("input"))
            case "user":
                self._user(event)
            case "result":
                self._result(event)
            case _:
                pass

    def _user(self, event: Event) -> None:
        for part in list_in(event["message"]["content"]):
            if part.get("type") == "tool_result":
                text = _text(part.get("content"))
                self.returned(part["tool_use_id"], text, ok=not part.get("is_error", False))
                if part.get("is_error") and _UNKNOWN_TOOL in (text or ""):
                    self.refuse(part["tool_use_id"])

    def _result(self, event: Event) -> None:
        self.finished = True
        self.session = text_or_none(event.get("session_id", self.session), "the session")
        self.turns, self.cost_usd = count(event.get("num_turns")), number(event, "total_cost_usd")
        self.usage = _usage(event.get("usage") or {})
        self.refused += [
            text_of(denied["tool_name"], "a denied tool") for denied in event.get("permission_denials", ())
        ]
        if event.get("subtype") == "success" and not event.get("is_error"):
            self.text = text_or_none(event.get("result"), "the result") or self.text
        else:
            what = "" if event.get("subtype") == "success" else event.get("subtype")
            self.error = " ".join(str(part) for part in (what, event.get("result")) if part) or "no reason"


def _usage(counts: Mapping[str, object]) -> Usage:
    parts = [count(counts.get(f"{kind}input_tokens")) for kind in ("", "cache_read_", "cache_creation_")]
    return Usage(
        input=None if parts[0] is None else sum(part or 0 for part in parts),
        output=count(counts.get("output_tokens")),
        cached=parts[1],
        reasoning=count(object_in(counts.get("output_tokens_details")).get("thinking_tokens")),
    )


def _text(content: object) -> str | None:
    """The content of a tool result: text, or parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in objects_in(content))
    return content if isinstance(content, str) else None


class ClaudeCode(Agent):
    """`--tools` restricts; `--allowedTools` only spares the question, which could not be answered."""

    name = "claude-code"
    program = "claude"
    package = "@anthropic-ai/claude-code"
    skills = ".claude/skills"
    of_workspace = (".claude/skills",)
    reader = _Reader
    tools = _TOOLS
    keys = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
    places = ("ANTHROPIC_BASE_URL",)
    our_options = (
        *("-p", "--print", "--input-format", "--output-format", "--setting-sources", "--settings", "--model"),
        *("--permission-mode", "--tools", "--allowedTools", "--allowed-tools", "--mcp-config"),
        *("--strict-mcp-config", "-r", "--resume", "-c", "--continue", "--dangerously-skip-permissions"),
        "--allow-dangerously-skip-permissions",
    )
    harmless_options = (
        *("--append-system-prompt", "--effort", "--fallback-model", "--max-budget-usd", "--max-turns"),
        "--system-prompt",
    )

    def arguments(self, ask: Ask) -> list[str]:
        """Settings, instructions and skills of the workspace count: they may be what is tested."""
        settings = ask.settings
        tools = settings.names_of(_TOOLS, "Skill" if ask.has_skills else None)
        servers = settings.permitted_servers
        allowed = ",".join([*tools, *(f"mcp__{name}" for name in servers)])
        return [
            *settings.args,
            *("-p", "--output-format", "stream-json", "--verbose", "--setting-sources=user,project"),
            *("--permission-mode", "dontAsk", f"--tools={','.join(tools)}", f"--allowedTools={allowed}"),
            f"--settings={json.dumps(self._above_the_workspace(ask))}",
            *("--strict-mcp-config", f"--mcp-config={json.dumps({'mcpServers': servers})}"),
            *option("--model", ask.model),
            *option("--resume", ask.session),
            *("--", ask.prompt),
        ]

    def _above_the_workspace(self, ask: Ask) -> Mapping[str, object]:
        """Settings that the workspace cannot replace: no command without a shell, no other way for the key."""
        env = {name: ask.environment.get(name, "") for name in _WAYS}
        env["ANTHROPIC_BASE_URL"] = ask.environment.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
        env["NODE_TLS_REJECT_UNAUTHORIZED"] = ask.environment.get("NODE_TLS_REJECT_UNAUTHORIZED", "1")
        commands = {} if ask.settings.has("shell") else dict.fromkeys(_COMMANDS, "")
        return {"disableAllHooks": not ask.settings.has("shell"), "env": env, **commands}

    def variables(self, home: Path) -> Mapping[str, str]:  # noqa: ARG002
        """Without updates and telemetry."""
        return {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
