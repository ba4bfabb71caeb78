"""One exchange with a program: it is fed and read meanwhile, at most so much, and killed at its end."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, ClassVar

from runevals.lib.checkout import repository_root
from runevals.lib.text.secrets import beginning, ending
from runevals.programs.processes import kill_group, start_program

MAX_OUTPUT_BYTES = 16 * 1024 * 1024
LAST_LINES, LONGEST_TAIL = 5, 600  # of what a program said before it failed
LOOK_EVERY_S = 0.2  # whether a run was stopped
LAST_READ_S = 2.0  # for what a program printed last, after its time limit, too


# A frame of a traceback of Python, in a file that is not of an installed package.
_FRAME = re.compile(r'^File "((?:(?!(?:site|dist)-packages)[^"<\n])+)", line (\d+)', re.MULTILINE)


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
        self.held_open = False  # the program ended, but a process that it left has its output
        self._killed, self._cwd = False, cwd
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
    def failure(self) -> str:
        """How it ended, and what it printed last, for a sentence."""
        output = f": {self.last_lines}" if self.last_lines else ", and printed nothing"
        return f"ended with exit code {self.exit_code}{output}"

    @property
    def last_lines(self) -> str:
        """The last lines of its standard error, else of its output, on one line; an exception before its place."""
        text = (self.err or self.out).decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if "Traceback (most recent call last):" in lines:
            return beginning(lines[-1], LONGEST_TAIL) + _place(lines, self._cwd)
        return ending(" / ".join(lines[-LAST_LINES:]), LONGEST_TAIL)

    def take(self, chunk: bytes) -> None:
        """A piece of its output."""
        self.out += chunk

    def kill(self) -> None:
        """Ends the program and all that it started."""
        self._killed = True
        if self._process.returncode is None:
            kill_group(self._process)

    def wait(self, timeout_s: float, stopped: Callable[[], bool] | None = None) -> bool:
        """Whether the program and its output ended in time and not `stopped`; afterwards, its session is over."""
        ends_at, finished = time.monotonic() + timeout_s, False
        try:
            while not finished and (left := ends_at - time.monotonic()) > 0 and not (stopped and stopped()):
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(left if stopped is None else min(left, LOOK_EVERY_S))
                    finished = True
        finally:
            kill_group(self._process)
        self._read_to_end(max(ends_at if finished else 0.0, time.monotonic() + LAST_READ_S), stopped)
        self.held_open = finished and any(thread.is_alive() for thread in self._threads[1:])
        return finished and not self.held_open

    def _read_to_end(self, ends_at: float, stopped: Callable[[], bool] | None) -> None:
        """A process in a session of its own survives the program, and may hold its output open until `ends_at`."""
        for thread in self._threads:
            while thread.is_alive() and not self._killed and not (stopped and stopped()):
                if (left := ends_at - time.monotonic()) <= 0:
                    return
                thread.join(min(left, LOOK_EVERY_S))

    def _feed(self, question: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe
        with suppress(OSError), self._process.stdin as pipe:  # a program need not read its question
            pipe.write(question)

    def _drain(self, pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
        size = 0
        with pipe:
            while chunk := os.read(pipe.fileno(), 65536):
                take(chunk)
                size += len(chunk)
                if size > self.most_bytes:
                    self.too_much = True
                    kill_group(self._process)
                    return


def _place(lines: Sequence[str], cwd: Path) -> str:
    """The innermost line of a traceback that is inside the repository: ` (src/bot.py:3)`; empty if none is."""
    root = Path(os.path.realpath(repository_root(cwd)))
    frames = [(Path(os.path.realpath(cwd / name)), line) for name, line in _FRAME.findall("\n".join(lines))]
    own = [f" ({path.relative_to(root).as_posix()}:{line})" for path, line in frames if root in path.parents]
    return "".join(own[-1:])
