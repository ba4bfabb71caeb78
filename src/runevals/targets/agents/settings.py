"""A coding agent as a target: its tools, skills, MCP servers, options and variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.source import lies_inside
from runevals.lib.text.suggest import did_you_mean
from runevals.records.agent import MCP, TOOLS
from runevals.records.diagnosis import Diagnosis, good, missing
from runevals.records.errors import USAGE_ERROR, InvalidSettings
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import Agent, AgentSettings, install
from runevals.targets.agents.skills import SKILL_FILE
from runevals.targets.agents.target import AgentTarget, require_agent
from runevals.targets.kind import NOT_TAKEN, Making, Section
from runevals.targets.program import ProgramSettings
from runevals.targets.reach import Reach, Rule, Written, canonical, rules
from runevals.targets.servers_under_test import servers_by_name

DEFAULT_TIMEOUT_S = 600.0
_OF_OTHERS = ("system_prompt", "system_prompt_file", "parameters", "base_url", "api_key_env", "cwd", "command")


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


def _with_key(rule: Rule) -> Rule:
    """What it reaches by its key: an agent without any variable of the job is as bare as a program."""
    return lambda of: (
        rule(of) if any(map(of.has, (*AGENTS[of.kind].keys, *of.values.get("env", ())))) else iter(())
    )


def _options(written: Written) -> Iterator[Reach]:
    for option in options_of(written.values["args"]):
        if option.value is None or option.name not in AGENTS[written.kind].harmless_options:
            yield Reach("option", str(option), written.kind)


def _servers(written: Written) -> Iterator[Reach]:
    """The servers that it may use, with their environment."""
    for name, server in written.servers():
        if f"{MCP}{name}" in written.values.get("tools", ()):
            yield Reach("server", str(name), written.kind, canonical(server))


class AgentTargetSettings(ProgramSettings, frozen=True, kw_only=True):
    """A coding agent: Claude Code, Codex, Copilot or Gemini CLI."""

    agent: AgentSettings
    skills_of_suites: bool = False  # the settings name no skills: those that the suites are for are installed

    alone = True
    traits = Traits(
        takes_files=True, works_in_folders=True, plays_workspaces=True, stays_here=True, answers_tool_calls=True
    )
    refuses = dict.fromkeys(_OF_OTHERS, NOT_TAKEN)
    reaches = rules(
        "type",
        of=_with_key(lambda written: iter([Reach("agent", written.kind)])),
        tools=_with_key(lambda of: (Reach("tool", str(tool), of.kind) for tool in of.values["tools"])),
        args=_with_key(_options),
        mcp=_with_key(_servers),
        env=lambda written: written.variables(written.kind),
    )

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """What it may use. Raises InvalidSettings."""
        values, base = section.values, section.base
        agent = agent_settings(values, base, section.repository)
        servers = [base / values["mcp"]] if isinstance(values.get("mcp"), str) else []
        return {"agent": agent, "skills_of_suites": "skills" not in values, "files": (*agent.skills, *servers)}

    @property
    def command_line(self) -> Agent:
        """How it is started."""
        return AGENTS[self.type]

    def start(self, making: Making) -> Target:
        """Raises InvalidSettings for permissions that it cannot keep to, and if it is not installed."""
        return AgentTarget(
            self.command_line,
            self.agent,
            environment=making.environment,
            prices=making.prices,
            sessions=making.conversations,
        )

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables of its key, and those that it is given."""
        return (*self.command_line.keys, *self.agent.env)

    def with_skills(self, skills: Sequence[Path]) -> AgentTargetSettings:
        """The agent with these skills alone."""
        return replace(self, agent=replace(self.agent, skills=tuple(skills)))

    def named_files(self) -> Iterator[Path]:
        """Words of its options."""
        words = (part for word in self.agent.args for part in (word, word.partition("=")[2]))
        yield from (self.base / word for word in words if word)

    def diagnosis(self, environment: Mapping[str, str]) -> Diagnosis:
        """Its program, a key, and whether it can be restricted to its tools; it is not asked."""
        keys = self.command_line.keys
        try:
            program = require_agent(self.command_line, self.agent, environment)
        except InvalidSettings as error:
            fix = f"{install(self.command_line)}; docs/agents.md has its keys"
            return missing("target", str(error), fix, error.exit_code)
        if any(environment.get(key) for key in keys):
            return good("target", f"{self.type} {program}; a key is set")
        if self.agent.env:
            return good("target", f"{self.type} {program}; it is given {', '.join(self.agent.env)}")
        fix = f"export {keys[0]}=…, or write it into .env.local.user (which must not be committed)"
        return missing("target", f"{self.type} has no key: none of {', '.join(keys)} is set", fix, USAGE_ERROR)


def agent_settings(section: Mapping[str, Any], base: Path, repository: Path) -> AgentSettings:
    """What an agent may use. Raises InvalidSettings."""
    if isinstance(section.get("mcp"), list):
        raise InvalidSettings("target.mcp: an agent takes a file such as .mcp.json, or name → server")
    return AgentSettings(
        model=section.get("model"),
        timeout_s=float(section.get("timeout_s", DEFAULT_TIMEOUT_S)),
        tools=tuple(_tool(tool) for tool in section.get("tools", ())),
        skills=tuple(_skill(name, base, repository) for name in section.get("skills", ())),
        servers=servers_by_name(section.get("mcp", {}), base, repository),
        args=_args(section),
        env=tuple(section.get("env", ())),
    )


def _args(section: Mapping[str, Any]) -> tuple[str, ...]:
    """More options of its command line. Raises InvalidSettings for one that is ours, or a part of one."""
    args, kind = tuple(section.get("args", ())), section["type"]
    ours = ("-- ", *(f"{name}{end}" for name in AGENTS[kind].our_options for end in " ."))
    for option in options_of(args):
        if f"{option.name} ".startswith(ours):
            raise InvalidSettings(
                f"target.args: runevals itself sets {option.name} of {kind}; leave it out (`model`, `tools` and "
                "`mcp` say what it may do)"
            )
    return args


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
