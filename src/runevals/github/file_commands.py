"""The files through which a step passes outputs and its summary to the runner."""

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
    """The content of the runner's files before any program ran, and our additions. Others cannot add to it.

    They belong to the user that programs under test run as, who finds them without knowing their paths.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._paths = {name: Path(environment[name]) for name in filter(environment.get, NAMES)}
        self._texts = dict.fromkeys(self._paths, b"")
        for name, path in self._paths.items():
            with suppress(OSError):
                self._texts[name] = path.read_bytes()

    def add_outputs(self, outputs: Mapping[str, str]) -> None:
        """Adds step outputs, each between unique delimiters that its value cannot contain."""
        for name, value in outputs.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of an output")
            delimiter = f"runevals_{secrets.token_hex(16)}"
            self._add(
                "GITHUB_OUTPUT", f"{name}<<{delimiter}\n{value}\n{delimiter}\n".encode(errors="backslashreplace")
            )

    def add_summary(self, markdown: str) -> bool:
        """Adds to the job summary; False if it is too large for the runner."""
        text = markdown.encode("utf-8", errors="backslashreplace")
        if len(text) > MAX_SUMMARY_BYTES:
            return False
        self._add("GITHUB_STEP_SUMMARY", text)
        return True

    def write(self) -> None:
        """Writes the files after all programs have ended. Raises OSError if one could not be written."""
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


def _replace(path: Path, content: bytes) -> None:
    """Overwrites a file of the runner; a link or special file at its path is replaced."""
    folder = os.open(path.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        status = None
        with suppress(FileNotFoundError):
            status = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        if status is not None and not (stat.S_ISREG(status.st_mode) and status.st_nlink == 1):
            _remove(path.name, folder, status)
        descriptor = os.open(path.name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK, 0o644, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    finally:
        os.close(folder)


def _remove(name: str, folder: int, status: os.stat_result) -> None:
    """Removes what is at the path; a folder, which may have content, is moved aside."""
    if stat.S_ISDIR(status.st_mode):
        os.rename(name, f"{name}-{secrets.token_hex(4)}", src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)
