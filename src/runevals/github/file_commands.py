"""The files by which a step hands outputs and its summary to the runner."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MAX_SUMMARY_BYTES = 1_000_000
NAMES = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class FileCommands:
    """What the runner's files held before any program ran, and what we add: nobody else has a word in them.

    They belong to the user that programs under test run as, who finds them without being told where they are.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._paths = {name: Path(environment[name]) for name in NAMES if environment.get(name)}
        self._texts = {name: _content(path) for name, path in self._paths.items()}

    def add_outputs(self, outputs: Mapping[str, str]) -> None:
        """Step outputs, each between delimiters of its own that its value cannot hold."""
        for name, value in outputs.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of an output")
            delimiter = f"runevals_{secrets.token_hex(16)}"
            self._add(
                "GITHUB_OUTPUT", f"{name}<<{delimiter}\n{value}\n{delimiter}\n".encode(errors="backslashreplace")
            )

    def add_summary(self, markdown: str) -> bool:
        """More of the job summary, False where it is too large for the runner to take."""
        text = markdown.encode("utf-8", errors="backslashreplace")
        if len(text) > MAX_SUMMARY_BYTES:
            return False
        self._add("GITHUB_STEP_SUMMARY", text)
        return True

    def write(self) -> None:
        """Makes the files that, when no program runs any more. Raises OSError where one could not be written."""
        failure: OSError | None = None
        for name, path in self._paths.items():
            try:
                _replace(path, self._texts[name])
            except OSError as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def _add(self, name: str, text: bytes) -> None:
        if name in self._paths:
            self._texts[name] += text


def _content(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""


def _replace(path: Path, content: bytes) -> None:
    """Overwrites a file of the runner; another one takes its place where a link or no plain file stands there."""
    folder = os.open(path.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        found = None
        with suppress(FileNotFoundError):
            found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        if found is not None and not (stat.S_ISREG(found.st_mode) and found.st_nlink == 1):
            _remove(path.name, folder, found)
        descriptor = os.open(path.name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK, 0o644, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    finally:
        os.close(folder)


def _remove(name: str, folder: int, found: os.stat_result) -> None:
    """What stands there is put aside if it is a folder, which may be full, else removed."""
    if stat.S_ISDIR(found.st_mode):
        os.rename(name, f"{name}-{secrets.token_hex(4)}", src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)
