"""Texts → files, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from runevals.errors import CannotWrite, InvalidSettings
from runevals.records import Conclusion
from runevals.reporters import reporter_for, reporters, suffix_of, text_of


def publish(conclusion: Conclusion, outputs: Sequence[Path]) -> None:
    """Renders and writes each output by its suffix; what cannot be written raises CannotWrite after all others."""
    problems: list[str] = []
    for path in outputs:
        reporter = reporter_for(path.name)
        if reporter is None:
            raise InvalidSettings(unknown_suffix(path))
        try:
            write_whole(path, text_of(reporter, conclusion))
        except CannotWrite as error:
            problems.append(str(error))
    if problems:
        raise CannotWrite("\n".join(problems))


def check_outputs(outputs: Sequence[Path]) -> None:
    """Raises InvalidSettings before a run whose outputs nobody could write."""
    for path in outputs:
        if reporter_for(path.name) is None:
            raise InvalidSettings(unknown_suffix(path))
        if path.is_dir():
            raise InvalidSettings(f"--output {path} is a folder; name a file in it")
        above = unwritable(path)
        if above is not None:
            raise InvalidSettings(f"--output {path} cannot be written: {above} is no folder that we may write to")


def unwritable(path: Path) -> Path | None:
    """What is above `path` and keeps it from being written; None where it can be."""
    above = next((parent for parent in path.absolute().parents if parent.exists()), path)
    return None if above.is_dir() and os.access(above, os.W_OK) else above


def unknown_suffix(path: Path) -> str:
    """What to say of an output that no reporter writes."""
    suffixes = ", ".join(suffix_of(reporter) for reporter in reporters())
    return f"--output {path}: the format is told by the suffix, one of {suffixes}"


def write_whole(path: Path, text: str | Iterable[str]) -> None:
    """Writes a text, or its pieces, by way of a neighbour: no reader meets half a file. Raises CannotWrite.

    What UTF-8 cannot hold (lone surrogates) is written as an escape.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                for piece in (text,) if isinstance(text, str) else text:
                    file.write(piece.encode("utf-8", errors="backslashreplace"))
            Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
