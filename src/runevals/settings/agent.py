"""The settings of a coding agent: tools, skills, MCP servers, options and variables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from runevals.lib.parsing.source import lies_inside, path_inside, read_text
from runevals.lib.text.suggest import did_you_mean
from runevals.records.agent import MCP, OUR_OPTIONS, TOOLS, AgentSettings
from runevals.records.errors import InvalidSettings

SKILL_FILE = "SKILL.md"
DEFAULT_TIMEOUT_S = 600.0
_OF_OTHERS = ("system_prompt", "system_prompt_file", "parameters", "base_url", "api_key_env", "cwd", "command")


def agent_settings(section: Mapping[str, Any], base: Path, repository: Path) -> AgentSettings:
    """The settings of a target that is an agent. Raises InvalidSettings."""
    if isinstance(section.get("mcp"), list):
        raise InvalidSettings("target.mcp: an agent takes a file such as .mcp.json, or name → server")
    for name in _OF_OTHERS:
        if name in section:
            raise InvalidSettings(f"target.{name}: a {section['type']} target does not take it; leave it out")
    servers = servers_by_name(section.get("mcp", {}), base, repository)
    return AgentSettings(
        model=section.get("model"),
        timeout_s=float(section.get("timeout_s", DEFAULT_TIMEOUT_S)),
        tools=tuple(_tool(tool) for tool in section.get("tools", ())),
        skills=tuple(_skill(name, base, repository) for name in section.get("skills", ())),
        servers=servers,
        args=_args(section),
        env=tuple(section.get("env", ())),
    )


class Option(Struct, frozen=True):
    """An option of a command line with its value, or a word that is none."""

    name: str
    value: str | None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value}"


def options_of(args: Sequence[str]) -> Iterator[Option]:
    """The options of `args`; `-c KEY=VALUE` is the option `-c KEY`."""
    words = iter(args)
    word = next(words, None)
    while word is not None:
        name, equals, value = word.partition("=") if word.startswith("-") else (word, "", "")
        after = next(words, None)
        if not equals and name.startswith("-") and after is not None and not after.startswith("-"):
            equals, value, after = "=", after, next(words, None)
        if name in ("-c", "--config") and equals:
            key, equals, value = value.partition("=")
            name = f"-c {key.strip()}"
        yield Option(name, value if equals else None)
        word = after


def _args(section: Mapping[str, Any]) -> tuple[str, ...]:
    """More options of its command line. Raises InvalidSettings for one that is ours."""
    args, kind = tuple(section.get("args", ())), section["type"]
    for option in options_of(args):
        if option.name == "--" or any(_is(option, ours) for ours in OUR_OPTIONS[kind]):
            raise InvalidSettings(
                f"target.args: runevals itself sets {option.name} of {kind}; leave it out (`model`, `tools` and "
                "`mcp` say what it may do)"
            )
    return args


def _is(option: Option, ours: str) -> bool:
    """Whether it is this option, or of a configuration key a part of it."""
    return option.name == ours or option.name.startswith((f"{ours}.", f"{ours} "))


def _tool(tool: object) -> str:
    if isinstance(tool, str) and (tool in TOOLS or (tool.startswith(MCP) and tool != MCP)):
        return tool
    hint = did_you_mean(tool, TOOLS) if isinstance(tool, str) else ""
    raise InvalidSettings(f"target.tools: {tool!r} is not one of {', '.join(TOOLS)} or {MCP}SERVER{hint}")


def _skill(name: str, base: Path, repository: Path) -> Path:
    folder = base / name
    if not lies_inside(repository, folder) or not (folder / SKILL_FILE).is_file():
        raise InvalidSettings(f"target.skills: {name} is not a folder inside the repository with a {SKILL_FILE}")
    return folder.resolve()


def servers_by_name(
    source: str | Mapping[str, Any], base: Path, repository: Path
) -> Mapping[str, Mapping[str, object]]:
    """The MCP servers of a file such as `.mcp.json`, or those given by name. Raises InvalidSettings."""
    if isinstance(source, str):
        path = path_inside(repository, source, base=base, what="target.mcp")
        try:
            document = json.loads(read_text(path, source))
        except (ValueError, RecursionError) as error:
            raise InvalidSettings(f"target.mcp: {source} is not JSON: {error}") from None
        servers = document.get("mcpServers") if isinstance(document, dict) else None
        if not isinstance(servers, dict):
            raise InvalidSettings(f"target.mcp: {source} has no `mcpServers`")
        source = servers
    for name, server in source.items():
        if not isinstance(server, dict) or not ({"command", "url"} & server.keys()):
            raise InvalidSettings(f"target.mcp: the server {name} has neither `command` nor `url`")
    return source
