"""A coding agent as a target: its command line is started for every turn, in the attempt's own folder."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.parsing.shapes import object_in
from runevals.models.chat.prices import Prices
from runevals.programs.exchange import Exchange
from runevals.programs.processes import as_program
from runevals.records import Conversation, ModelIdentity, Problem, Response
from runevals.records.agent import MCP
from runevals.records.errors import InvalidSettings, TargetRefused
from runevals.repository.fresh_copy import CannotCopy, write_file
from runevals.targets.agents.agent import Agent, AgentSettings, Ask, install
from runevals.targets.agents.skills import installed_skills
from runevals.targets.agents.stream import MAX_OUTPUT_BYTES, Stream
from runevals.targets.conversation_ids import ConversationIds
from runevals.targets.environment import bare, is_token, job_tokens, without_proxy
from runevals.targets.mcp_mocks import offering
from runevals.targets.mocks import mocks_of
from runevals.targets.program_report import failed


class _Streamed(Exchange):
    """An exchange whose output is read as it comes."""

    most_bytes = MAX_OUTPUT_BYTES

    def __init__(self, stream: Stream, command: Sequence[str], **options: Any) -> None:
        """`options`: as of an exchange."""
        self._stream = stream
        super().__init__(command, **options)

    def take(self, chunk: bytes) -> None:
        self._stream.feed(chunk)


class AgentTarget:
    """Starts the agent for every turn, and kills it with all that it started when it is late.

    It has a HOME of its own, and of our environment what any program needs, its key, and what `env` names.
    """

    def __init__(
        self,
        agent: Agent,
        settings: AgentSettings,
        *,
        environment: Mapping[str, str],
        prices: Prices,
        sessions: ConversationIds,
    ) -> None:
        """Raises InvalidSettings for what it cannot be given, and if it is not installed."""
        self._agent, self._settings = agent, settings
        self._program = require_agent(agent, settings, environment)
        self._version = _version(self._program, agent.package)
        self._environment = _environment_of(agent, settings, environment)
        self._prices, self._sessions = prices, sessions
        self._skills = installed_skills(settings.skills)
        self._running: set[Exchange] = set()
        self._reported: set[str] = set()

    def answer(self, conversation: Conversation) -> Response:
        """The agent's answer and tool calls; a problem if its final event is missing. Raises TargetRefused."""
        work, home = conversation.cwd, conversation.home
        if work is None or home is None:
            raise TargetRefused(f"the {self._agent.name} target needs a working folder of its own")
        session = self._sessions.id_of(conversation)
        if conversation.turn > 1 and session is None:
            return failed("target_failed", "the agent did not say how its conversation goes on")
        with offering(mocks_of(conversation)) as offer:
            settings = self._agent.with_mocks(self._settings, offer)
            try:
                with as_program():
                    for path, text in self._agent.home(settings, self._environment).items():
                        write_file(home, path, text)
                    for skill in self._skills if conversation.turn == 1 else ():
                        skill.install(home, self._agent.skills)
            except (OSError, CannotCopy) as error:
                return failed("target_failed", f"its HOME cannot be made: {error}")
            response = self._call(conversation, session, settings, work, home)
            response = offer.with_answers(response, self._agent.server_tool)
        self._sessions.keep(conversation, response.session)
        if response.model is not None:
            self._reported.add(response.model)
        return response

    def identity(self) -> ModelIdentity:
        """The agent with its version and settings."""
        settings = self._settings
        return ModelIdentity(
            type=self._agent.name,
            model=settings.model,
            reported=tuple(sorted(self._reported)),
            detail={
                "version": self._version,
                "tools": list(settings.tools),
                "skills": {skill.name: skill.fingerprint for skill in self._skills},
                "mcp": sha256(json.dumps(dict(settings.servers), sort_keys=True).encode()).hexdigest()[:16]
                if settings.servers
                else None,
                "args": list(settings.args),
                "env": list(settings.env),
            },
        )

    def close(self) -> None:
        """Ends the agents still at work."""
        for exchange in tuple(self._running):
            exchange.kill()

    def _call(
        self, conversation: Conversation, session: object, settings: AgentSettings, work: Path, home: Path
    ) -> Response:
        ask = Ask(
            prompt=_prompt(conversation),
            model=self._settings.model or conversation.model,
            session=if_known(str, session),
            settings=settings,
            environment=self._environment,
            brings_skills=any((work / place).is_dir() for place in self._agent.of_workspace),
        )
        if self._sets_environment(work, home.parent):
            file = f"{self._agent.name} reads {self._agent.own_environment} of its workspace as its environment"
            return failed("target_failed", f"{file}, which could lead its key elsewhere; remove the file")
        stream = Stream(self._agent.reader())
        timeout_s = conversation.timeout_s or self._settings.timeout_s
        began = time.monotonic()
        try:
            own = {**self._agent.variables(home), "TMPDIR": str(home.parent / "tmp")}
            env = {**self._environment, **own, **conversation.env}
            exchange = _Streamed(
                stream, [self._program, *self._agent.arguments(ask)], cwd=work, env=env, home=home
            )
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno == errno.E2BIG:
                return failed("target_failed", "the prompt is too long for a command line")
            reason = getattr(error, "strerror", None) or error
            raise TargetRefused(f"{self._agent.name} cannot be started: {self._program}: {reason}") from error
        self._running.add(exchange)
        try:
            finished = exchange.wait(timeout_s)
        finally:
            self._running.discard(exchange)
        stream.end()
        failure = _failure(exchange, stream, timeout_s, finished=finished) or _without_a_server(stream, settings)
        return self._priced(stream.outcome(time.monotonic() - began, failure), ask)

    def _sets_environment(self, work: Path, top: Path) -> bool:
        """Whether a file of the workspace would set the agent's variables."""
        name = self._agent.own_environment
        folders = [folder for folder in (work, *work.parents) if folder.is_relative_to(top)]
        return bool(name) and any(os.path.lexists(folder / name) for folder in folders)

    def _priced(self, response: Response, ask: Ask) -> Response:
        """The response; cost, model and skills are filled in if the agent did not report them."""
        model = response.model or ask.model
        cost = response.cost_usd
        if cost is None:
            cached = None if response.delivery is None else response.delivery.cached_tokens
            tokens = response.input_tokens, response.output_tokens
            cost = self._prices.cost_usd(model, *tokens, cached_tokens=cached)
        names = tuple(name for skill in self._skills for name in sorted(skill.names))
        skills = names if response.skills is None else response.skills
        return replace(response, model=model, cost_usd=cost, skills=skills)


def _failure(exchange: Exchange, stream: Stream, timeout_s: float, *, finished: bool) -> Problem | None:
    """What went wrong with the program itself."""
    if exchange.too_much:
        message = f"it printed more than {MAX_OUTPUT_BYTES // 1024**2} MiB"
        return Problem(code="target_unparseable", message=message)
    if not finished:
        reason = "it did not end after its final event" if stream.reader.finished else "no final event"
        return Problem(code="target_timeout", message=f"{reason} within {timeout_s:g} s")
    if exchange.exit_code != 0 and stream.reader.error is None:
        message = f"the command {exchange.failure}"
        return Problem(code="target_failed", message=message)
    return None


def _without_a_server(stream: Stream, settings: AgentSettings) -> Problem | None:
    """That the agent answered without an MCP server that it should have had."""
    failed_servers = sorted(stream.reader.failed_servers & settings.permitted_servers.keys())
    if not failed_servers:
        return None
    message = f"the agent could not start the MCP server {', '.join(failed_servers)} of target.mcp"
    return Problem(code="target_failed", message=message)


def _prompt(conversation: Conversation) -> str:
    """The prompt; before the first one, what the suite puts before it."""
    history = () if conversation.turn > 1 else conversation.history
    parts = [one.content if one.role == "system" else f"{one.role}: {one.content}" for one in history]
    return "\n\n".join([*parts, conversation.prompt])


def require_agent(agent: Agent, settings: AgentSettings, environment: Mapping[str, str]) -> str:
    """The path of its program. Raises InvalidSettings for permissions that it cannot keep to, and without it."""
    for tool in settings.tools:
        if tool.startswith(MCP) and tool.removeprefix(MCP) not in settings.servers:
            raise InvalidSettings(f"target.tools: there is no MCP server {tool.removeprefix(MCP)} in target.mcp")
    if (reason := agent.cannot(settings)) is not None:
        raise InvalidSettings(f"target.tools: {agent.name} cannot be restricted to that: {reason}")
    program = shutil.which(agent.program, path=environment.get("PATH", os.defpath))
    if program is None:
        raise InvalidSettings(
            f"the {agent.name} target needs the program `{agent.program}`; install it with: {install(agent)}"
        )
    return program


def _environment_of(agent: Agent, settings: AgentSettings, environment: Mapping[str, str]) -> dict[str, str]:
    tokens = job_tokens(environment)
    env = [name for name in settings.env if not is_token(environment.get(name, ""), tokens)]
    names = (*agent.keys, *agent.places, *env)
    own = {name: environment[name] for name in names if environment.get(name)}
    return {**bare(environment), **without_proxy(environment), **own}


def installed_version(agent: Agent, environment: Mapping[str, str]) -> str | None:
    """The version of the agent that would be started; None if it is unknown or not installed."""
    program = shutil.which(agent.program, path=environment.get("PATH", os.defpath))
    return None if program is None else _version(program, agent.package)


def _version(program: str, package: str) -> str | None:
    """The version in the package that the program belongs to: to ask the program itself takes a second."""
    for folder in Path(os.path.realpath(program)).parents:
        for place in (folder / "package.json", folder / "node_modules" / package / "package.json"):
            try:
                manifest = json.loads(place.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if object_in(manifest).get("name") == package and isinstance(manifest.get("version"), str):
                return str(manifest["version"])
    return None
