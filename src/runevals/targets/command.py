"""Any program: one call an answer, JSON in on stdin, text or JSON out on stdout."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from runevals.lib.parsing.json_forms import json_in
from runevals.lib.text.numbers import phrase
from runevals.programs.exchange import MAX_OUTPUT_BYTES, Exchange
from runevals.programs.processes import what_to_use
from runevals.records import Conversation, ModelIdentity, Response
from runevals.records.agent import AgentName
from runevals.records.errors import InvalidSettings, TargetRefused
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.agents import AGENTS
from runevals.targets.agents.stream import read_whole
from runevals.targets.environment import cleaned
from runevals.targets.kind import Making, Section
from runevals.targets.mocks import Mocks, mocks_of, with_calls
from runevals.targets.program import ProgramSettings
from runevals.targets.program_report import failed, is_report, response_from
from runevals.targets.reach import program_of, rules

NO_SUCH_PROGRAM = 127  # the exit code of shells and env


class MockedExchange(Exchange):
    """Each line of its output that is a tool call, `{"tool": …, "input": …}`, gets a line of its input.

    It reads its question as one line, because its input stays open.
    """

    def __init__(self, mocks: Mocks, command: Sequence[str], **options: Any) -> None:
        """`options`: as of an exchange."""
        self._mocks, self._start = mocks, 0  # the start of the line that is not complete yet
        super().__init__(command, **options)

    def take(self, chunk: bytes) -> None:
        self.out += chunk
        while (end := self.out.find(b"\n", self._start)) >= 0:
            reply = self._mocks.reply_to(json_in(self.out[self._start : end]))
            if reply is None:
                self._start = end + 1
            else:
                del self.out[self._start : end + 1]
                self._write(json.dumps(reply).encode())

    def _feed(self, question: bytes) -> None:
        self._write(question)

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe
        with suppress(OSError):  # it has ended
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()

    def _drain(self, pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
        super()._drain(pipe, take)
        if take == self.take:  # closed where it is written: a process that is left with the pipe delays this alone
            with suppress(OSError, AttributeError):
                self._process.stdin.close()  # type: ignore[union-attr]


class CommandTarget:
    """Starts the program for every answer, without a shell, and kills it at its timeout."""

    def __init__(self, settings: CommandSettings, environment: Mapping[str, str]) -> None:
        """The folder of a case has precedence over that of the settings."""
        self._settings = settings
        self._env = cleaned(environment, settings.variables)
        self._running: set[Exchange] = set()

    def answer(self, conversation: Conversation) -> Response:
        """What the program prints; a non-zero exit is `target_failed` with the end of its stderr."""
        began = time.monotonic()
        settings, mocks = self._settings, mocks_of(conversation)
        own = {"model": settings.model, "system": settings.system_prompt}
        try:
            talk = (partial(MockedExchange, mocks) if mocks.declared else Exchange)(
                settings.command if conversation.workspace is None else self._from_elsewhere(),
                cwd=conversation.cwd or settings.base,
                env={**self._env, **conversation.env},
                question=json.dumps({**own, **request_of(conversation)}).encode(),
                home=conversation.home,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            instead = what_to_use() if isinstance(error, FileNotFoundError) else ""
            raise TargetRefused(
                f"the target command cannot be started: {settings.command[0]}: {reason}{instead}"
            ) from error
        self._running.add(talk)
        try:
            finished = talk.wait(settings.timeout_s)
        finally:
            self._running.discard(talk)
        if talk.too_much:
            return failed("target_unparseable", f"the answer is larger than {MAX_OUTPUT_BYTES // 1024**2} MiB")
        if talk.held_open:
            reason = "the command ended, but a process that it left holds its output open"
            return failed("target_timeout", f"{reason}: no end of the answer within {settings.timeout_s:g} s")
        if not finished:
            return failed("target_timeout", f"no answer within {settings.timeout_s:g} s")
        return with_calls(self._read(talk, time.monotonic() - began), mocks)

    def _from_elsewhere(self) -> list[str]:
        """The command for another working folder, with absolute paths of the files in its own."""
        first, *words = self._settings.command
        own = {
            word: self._settings.base.absolute() / word for word in (*([first] if "/" in first else []), *words)
        }
        return [str(own[word]) if word in own and own[word].is_file() else word for word in self._settings.command]

    def _read(self, talk: Exchange, latency_s: float) -> Response:
        """What the program printed, now that it has ended; a problem if an agent's final event is missing."""
        if self._settings.output is not None:
            reader = AGENTS[self._settings.output].reader()
            return read_whole(reader, bytes(talk.out), latency_s, exit_code=talk.exit_code)
        if talk.exit_code != 0:
            instead = what_to_use() if talk.exit_code == NO_SUCH_PROGRAM else ""
            return failed("target_failed", f"the command {talk.failure}{instead}")
        return _read(bytes(talk.out), latency_s)

    def identity(self) -> ModelIdentity:
        """The command."""
        return ModelIdentity(
            type="command",
            model=self._settings.model,
            deterministic=self._settings.deterministic,
            detail={"command": list(self._settings.command)},
        )

    def close(self) -> None:
        """Ends the programs still running."""
        for talk in tuple(self._running):
            talk.kill()


def failure_of(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout_s: float, stopped: Callable[[], bool]
) -> str | None:
    """Runs a program to its end, without a shell. Returns why it failed, with its last lines, or None.

    It is killed at its timeout, or when `stopped` returns true.
    """
    try:
        talk = Exchange(command, cwd=cwd, env=env)
    except (OSError, ValueError) as error:
        install = phrase(isinstance(error, FileNotFoundError), " (install it, or name it right)")
        return f"cannot be started: {getattr(error, 'strerror', None) or error}{install}"
    if not talk.wait(timeout_s, stopped):
        return f"did not end within {timeout_s:g} s: {talk.last_lines}"
    return None if talk.exit_code == 0 else talk.failure


def request_of(conversation: Conversation) -> dict[str, Any]:
    """The JSON of a conversation for programs under test."""
    return {
        "prompt": conversation.prompt,
        "messages": [{"role": m.role, "content": m.content} for m in conversation.messages],
        **({"mocks": True} if mocks_of(conversation).declared else {}),
        "case": {
            "suite": conversation.suite,
            "key": conversation.case,
            "attempt": conversation.attempt,
            "turn": conversation.turn,
            "thread": conversation.thread,
            "metadata": dict(conversation.metadata),
        },
    }


def _read(out: bytes, latency_s: float) -> Response:
    text = out.decode(errors="replace").removesuffix("\n").removesuffix("\r")
    value = json_in(text)
    if isinstance(value, Mapping) and is_report(value):
        return response_from(value, latency_s)
    if _ends_in_report(text):
        reason = "the last line is an answer in JSON, but not the only line; print everything else to stderr"
        return failed("target_unparseable", reason)
    return Response(text=text, latency_s=latency_s)


def _ends_in_report(text: str) -> bool:
    """Whether other lines, such as a log, stand before a report: taken for text, its error would be an answer."""
    before, _, last = text.rstrip().rpartition("\n")
    if not before.strip() or not last.startswith("{"):
        return False
    value = json_in(last)
    return isinstance(value, Mapping) and bool({"output", "ok"} & value.keys())


class CommandSettings(ProgramSettings, frozen=True, kw_only=True):
    """A program."""

    command: tuple[str, ...]
    output: AgentName | None = None  # it prints the events of this agent

    traits = Traits(takes_cwd=True, takes_files=True, answers_tool_calls=True, is_program=True, needs_files=True)
    word = "command"
    form = "PROGRAM"
    reaches = rules("command", of=program_of)

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """Its words. Raises InvalidSettings."""
        written = section.values.get("command") or ()
        try:
            command = tuple(shlex.split(written) if isinstance(written, str) else written)
        except ValueError as error:
            raise InvalidSettings(f"target.command cannot be read: {error}") from None
        if not command:
            raise InvalidSettings("the command target has no command; give target.command or command:PROGRAM")
        return {**super().own_fields(section), "command": command}

    def start(self, making: Making) -> Target:
        """Nothing is started yet."""
        return CommandTarget(self, making.environment)

    @property
    def program(self) -> str:
        """Its words."""
        return shlex.join(self.command)

    def named_files(self) -> Iterator[Path]:
        """Each word may be a path."""
        yield from (self.base / word for word in self.command)

    def is_program_of(self, result: ModelIdentity, bases: Sequence[Path]) -> bool:  # noqa: ARG002
        """Whether a result is of the same words."""
        command = list(self.command)
        return result.detail.get("command", command) == command

    def absent(self, environment: Mapping[str, str]) -> str | None:
        """That there is no such program."""
        program, search = self.command[0], environment.get("PATH", os.defpath)
        exists = (self.base / program).is_file() if "/" in program else shutil.which(program, path=search)
        return None if exists else f"there is no program {program}"
