"""Any program: one call an answer, JSON in on stdin, text or JSON out on stdout."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from runevals.lib.container import what_to_use
from runevals.lib.programs import kill_group, start_program
from runevals.records import Conversation, ModelIdentity, Response
from runevals.records.errors import TargetRefused
from runevals.targets.program_report import failed, is_report, response_from

MAX_OUTPUT_BYTES = 16 * 1024 * 1024
LAST_LINES, LONGEST_TAIL = 5, 600  # of the output of a failed program
NO_SUCH_PROGRAM = 127  # the exit code of shells and env
LOOK_EVERY_S = 0.2  # between checks for a stopped run


class CommandTarget:
    """Starts the program for every answer, without a shell, and kills it at its timeout."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout_s: float,
        deterministic: bool,
        request: Mapping[str, object],
    ) -> None:
        """`request` is sent with every conversation: model and system prompt.

        The folder of a case has precedence over `cwd`.
        """
        self._command = list(command)
        self._cwd = cwd
        self._env = dict(env)
        self._timeout_s = timeout_s
        self._deterministic = deterministic
        self._request = dict(request)
        self._running: set[subprocess.Popen[bytes]] = set()

    def answer(self, conversation: Conversation) -> Response:
        """What the program prints; a non-zero exit is `target_failed` with the end of its stderr."""
        began = time.monotonic()
        try:
            process = start_program(self._command, cwd=conversation.cwd or self._cwd, env=self._env)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            instead = what_to_use() if isinstance(error, FileNotFoundError) else ""
            raise TargetRefused(
                f"the target command cannot be started: {self._command[0]}: {reason}{instead}"
            ) from error
        request = {**self._request, **request_of(conversation)}
        self._running.add(process)
        try:
            exchange = _Exchange(process, json.dumps(request).encode())
            finished = exchange.wait(self._timeout_s)
        finally:
            self._running.discard(process)
        if exchange.too_much:
            return failed("target_unparseable", f"the answer is larger than {MAX_OUTPUT_BYTES // 1024**2} MiB")
        if not finished:
            return failed("target_timeout", f"no answer within {self._timeout_s:g} s")
        if process.returncode != 0:
            tail = exchange.err.decode(errors="replace").strip()[-1000:]
            instead = what_to_use() if process.returncode == NO_SUCH_PROGRAM else ""
            return failed(
                "target_failed", f"the command ended with exit code {process.returncode}: {tail}{instead}"
            )
        return _read(bytes(exchange.out), time.monotonic() - began)

    def identity(self) -> ModelIdentity:
        """The command."""
        model = self._request.get("model")
        return ModelIdentity(
            type="command",
            model=None if model is None else str(model),
            deterministic=self._deterministic,
            detail={"command": self._command},
        )

    def close(self) -> None:
        """Ends the programs still running."""
        for process in tuple(self._running):
            kill_group(process)


def failure_of(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout_s: float, stopped: Callable[[], bool]
) -> str | None:
    """Runs a program to its end, without a shell. Returns why it failed, with its last lines, or None.

    It is killed at its timeout, or when `stopped` returns true.
    """
    try:
        process = start_program(command, cwd=cwd, env=env)
    except (OSError, ValueError) as error:
        return f"cannot be started: {getattr(error, 'strerror', None) or error}"
    exchange = _Exchange(process, b"")
    finished = exchange.wait(timeout_s, stopped)
    lines = [line for line in (exchange.err or exchange.out).decode(errors="replace").splitlines() if line.strip()]
    output = " / ".join(line.strip() for line in lines[-LAST_LINES:])[-LONGEST_TAIL:]
    if not finished:
        return f"did not end within {timeout_s:g} s: {output}"
    return None if process.returncode == 0 else f"ended with exit code {process.returncode}: {output}"


class _Exchange:
    """One exchange with a program: feeds and reads it concurrently, with a size limit, and kills it at the end.

    Its background processes end with it: only output of the program itself is an answer.
    """

    def __init__(self, process: subprocess.Popen[bytes], question: bytes) -> None:
        self.out, self.err = bytearray(), bytearray()
        self.too_much = False
        self._process = process
        self._threads = [
            threading.Thread(target=self._feed, args=(question,), daemon=True),
            threading.Thread(target=self._drain, args=(process.stdout, self.out), daemon=True),
            threading.Thread(target=self._drain, args=(process.stderr, self.err), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def wait(self, timeout_s: float, stopped: Callable[[], bool] | None = None) -> bool:
        """Whether the program ended by itself, in time and not `stopped`; all its processes are ended."""
        ends_at = time.monotonic() + timeout_s
        finished = False
        try:
            while not finished and (remaining := ends_at - time.monotonic()) > 0 and not (stopped and stopped()):
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(remaining if stopped is None else min(remaining, LOOK_EVERY_S))
                    finished = True
        finally:
            kill_group(self._process)
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        return finished

    def _feed(self, question: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe
        with suppress(OSError):  # a program need not read its question
            self._process.stdin.write(question)
            self._process.stdin.close()

    def _drain(self, pipe: IO[bytes], into: bytearray) -> None:
        while chunk := os.read(pipe.fileno(), 65536):
            into += chunk
            if len(into) > MAX_OUTPUT_BYTES:
                self.too_much = True
                kill_group(self._process)
                return


def request_of(conversation: Conversation) -> dict[str, object]:
    """The JSON of a conversation for programs under test."""
    return {
        "prompt": conversation.prompt,
        "messages": [{"role": m.role, "content": m.content} for m in conversation.messages],
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
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, Mapping) and is_report(value):
        return response_from(value, latency_s)
    return Response(text=text, latency_s=latency_s)
