"""One exchange with a program: it is fed and read meanwhile, at most so much, and killed at its end."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, ClassVar

from runevals.lib.programs import kill_group, start_program

MAX_OUTPUT_BYTES = 16 * 1024 * 1024
LAST_LINES, LONGEST_TAIL = 5, 600  # of what a program said before it failed
LOOK_EVERY_S = 0.2  # whether a run was stopped


class Exchange:
    """What it leaves running in the background ends with it: an answer is what the program itself said."""

    most_bytes: ClassVar[int] = MAX_OUTPUT_BYTES

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        question: bytes = b"",
        home: Path | None = None,
    ) -> None:
        """Starts the program, without a shell. Raises OSError, ValueError."""
        self.out, self.err = bytearray(), bytearray()
        self.too_much = False
        self._process = start_program(command, cwd=cwd, env=env, home=home)
        self._threads = [
            threading.Thread(target=self._feed, args=(question,), daemon=True),
            threading.Thread(target=self._drain, args=(self._process.stdout, self.take), daemon=True),
            threading.Thread(target=self._drain, args=(self._process.stderr, self.err.extend), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def exit_code(self) -> int | None:
        """How it ended, None while it runs."""
        return self._process.returncode

    @property
    def last_lines(self) -> str:
        """The last lines of its standard error, else of its output, on one line."""
        lines = [line for line in (self.err or self.out).decode(errors="replace").splitlines() if line.strip()]
        return " / ".join(line.strip() for line in lines[-LAST_LINES:])[-LONGEST_TAIL:]

    def take(self, chunk: bytes) -> None:
        """A piece of its output."""
        self.out += chunk

    def kill(self) -> None:
        """Ends the program and all that it started."""
        kill_group(self._process)

    def wait(self, timeout_s: float, stopped: Callable[[], bool] | None = None) -> bool:
        """Whether the program ended by itself, in time and not `stopped`; afterwards nothing of it runs."""
        ends_at = time.monotonic() + timeout_s
        finished = False
        try:
            while not finished and (left := ends_at - time.monotonic()) > 0 and not (stopped and stopped()):
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(left if stopped is None else min(left, LOOK_EVERY_S))
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

    def _drain(self, pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
        size = 0
        while chunk := os.read(pipe.fileno(), 65536):
            take(chunk)
            size += len(chunk)
            if size > self.most_bytes:
                self.too_much = True
                kill_group(self._process)
                return
