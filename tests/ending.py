"""How a command ended, told whole where it is not as a test expects."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import IO


def ended(code: int, expected: int, text: str, *words: str, without: Sequence[str] = ()) -> None:
    """Fails with the command's whole output unless it exited with `expected` and printed all of `words`.

    `without` are words that it must not print.
    """
    __tracebackhide__ = True
    missing = [word for word in words if word not in text]
    unwanted = [word for word in without if word in text]
    problems = [f"exit code {code}, not {expected}"] if code != expected else []
    problems += [f"not printed: {word!r}" for word in missing]
    problems += [f"printed, and should not be: {word!r}" for word in unwanted]
    assert not problems, "\n".join([*problems, "", text])


def interrupt(run: subprocess.Popen[str], printed: IO[str], signal_number: int) -> str:
    """Sends a signal, and returns what the run printed until it said that it stops."""
    run.send_signal(signal_number)
    lines = []
    for line in printed:
        lines.append(line)
        if line.startswith("Stopping: "):
            return "".join(lines)
    raise AssertionError(f"it did not stop: {''.join(lines)}")
