"""A child process that answers one JSON line for each JSON line it is sent, and is killed when it is late."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from runevals.programs.processes import kill_group, start_program

START_TIMEOUT_S = 30.0


class ProcessDied(Exception):
    """The child ended."""


class AnswerTooLarge(ProcessDied):
    """The child's answer exceeds the size limit."""


class LineProcess:
    """A child process that exchanges lines. Its first line reports that it is ready; not thread-safe."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path | None,
        max_answer_bytes: int,
        start_timeout_s: float = START_TIMEOUT_S,
        own_worker: bool = False,
    ) -> None:
        """Starts it. Raises OSError, ProcessDied or TimeoutError if it does not get ready in time.

        `own_worker`: a worker of runevals, which drops its rights itself.
        """
        self._max_answer_bytes = max_answer_bytes
        self._killed = False
        self._process = start_program(command, env=env, cwd=cwd, stderr=subprocess.DEVNULL, own_worker=own_worker)
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe just now
        assert self._process.stdout is not None  # noqa: S101
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        try:
            self.ready = self._read_line(time.monotonic() + start_timeout_s)
        except (TimeoutError, ProcessDied):
            self.kill()
            raise

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def exchange(self, request: Mapping[str, object], timeout_s: float) -> bytes:
        """Sends one line and gives the answering line. Raises TimeoutError or ProcessDied."""
        deadline = time.monotonic() + timeout_s
        self._write(memoryview(json.dumps(request).encode() + b"\n"), deadline)
        return self._read_line(deadline)

    def finish(self, timeout_s: float) -> None:
        """Ends its input and waits until it has ended; after `timeout_s` it is killed."""
        with suppress(OSError):
            self._stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        self.kill()

    def kill(self) -> None:
        """Ends it and its children; only once: the pid may be reused."""
        if self._killed:
            return
        self._killed = True
        with suppress(OSError):
            self._stdin.close()
        kill_group(self._process)
        self._selector.close()
        with suppress(OSError):
            self._stdout.close()

    def _write(self, text: memoryview, deadline: float) -> None:
        """A child that does not read cannot make us wait for longer than its time."""
        while text:
            try:
                text = text[os.write(self._stdin.fileno(), text) :]
            except BlockingIOError:
                self._wait_to_write(deadline)
            except OSError:
                raise ProcessDied from None

    def _wait_to_write(self, deadline: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not selector.select(remaining):
                raise TimeoutError

    def _read_line(self, deadline: float) -> bytes:
        received = bytearray()
        while not received.endswith(b"\n"):
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not self._selector.select(remaining):
                raise TimeoutError
            chunk = os.read(self._stdout.fileno(), 65536)
            if not chunk:
                raise ProcessDied
            received += chunk
            if len(received) > self._max_answer_bytes:
                raise AnswerTooLarge
        return bytes(received)
