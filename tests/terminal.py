"""The command line at a real pseudo-terminal: what is typed, and what is seen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

PATIENCE_S = 120
_MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """`runevals` with its input and output at a terminal of its own. Use it as a context manager."""

    def __init__(self, cwd: Path, *arguments: str, rows: int = 24, columns: int = 80, **env: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "runevals", *arguments],
            cwd=cwd,
            env={**inherited, "TERM": "xterm-256color", **env},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._text = ""
        self._from = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)

    def see(self, text: str) -> None:
        """Waits for `text` after what was seen last."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.shown[self._from :]:
            if not self._read(deadline):
                raise AssertionError(f"{text!r} was not seen in:\n{self.shown[self._from :]}")
        self._from = self.shown.index(text, self._from) + len(text)

    def type(self, line: str) -> None:
        """Types a line and ends it."""
        os.write(self._ours, f"{line}\n".encode())

    def end_input(self) -> None:
        """Ctrl-D."""
        os.write(self._ours, b"\x04")

    def interrupt(self) -> None:
        """What Ctrl-C sends, once the program waits for input: a person is never quicker than that."""
        deadline = time.monotonic() + PATIENCE_S
        state = Path(f"/proc/{self._process.pid}/stat")
        while state.read_text().rpartition(")")[2].split()[0] != "S" and time.monotonic() < deadline:
            time.sleep(0.01)
        self._process.send_signal(signal.SIGINT)

    def exit_code(self) -> int:
        """Waits for the end."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(deadline):
            pass
        return self._process.wait(timeout=PATIENCE_S)

    @property
    def raw(self) -> str:
        """All that was sent to the terminal so far."""
        return self._text

    @property
    def shown(self) -> str:
        """All that was shown so far, without colours and movements."""
        return _MOVES.sub("", self._text)

    def _read(self, deadline: float) -> bool:
        if not select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            chunk = os.read(self._ours, 65536)
        except OSError:  # the other side is closed
            return False
        self._text += chunk.decode("utf-8", "replace")
        return bool(chunk)
