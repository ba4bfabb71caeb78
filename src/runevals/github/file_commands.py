"""The files by which a step hands outputs and its summary to the runner."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from pathlib import Path

MAX_SUMMARY_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def write_outputs(path: Path, outputs: Mapping[str, str]) -> None:
    """Appends step outputs, each between delimiters of its own that its value cannot hold."""
    lines = []
    for name, value in outputs.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of an output")
        delimiter = f"runevals_{secrets.token_hex(16)}"
        lines.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(lines)


def write_summary(path: Path, markdown: str) -> bool:
    """Appends to the job summary, False where it is too large for the runner to take."""
    text = markdown.encode("utf-8", errors="backslashreplace")
    if len(text) > MAX_SUMMARY_BYTES:
        return False
    with path.open("ab") as file:
        file.write(text)
    return True
