"""Texts → files, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from runevals.errors import CannotWrite, InvalidSettings
from runevals.records import Conclusion
from runevals.reporters import REPORTERS, reporter_for


def publish(conclusion: Conclusion, outputs: Sequence[Path]) -> None:
    """Renders and writes each output by its suffix. Raises CannotWrite; what was written before stays."""
    for path in outputs:
        reporter = reporter_for(path.name)
        if reporter is None:
            raise InvalidSettings(unknown_suffix(path))
        write_whole(path, reporter.render(conclusion))


def check_outputs(outputs: Sequence[Path]) -> None:
    """Raises InvalidSettings before a run whose outputs nobody could write."""
    for path in outputs:
        if reporter_for(path.name) is None:
            raise InvalidSettings(unknown_suffix(path))
        if path.is_dir():
            raise InvalidSettings(f"--output {path} is a folder; name a file in it")


def unknown_suffix(path: Path) -> str:
    """What to say of an output that no reporter writes."""
    suffixes = ", ".join(reporter.FILENAME[reporter.FILENAME.rindex(".") :] for reporter in REPORTERS)
    return f"--output {path}: the format is told by the suffix, one of {suffixes}"


def write_whole(path: Path, text: str) -> None:
    """Writes a file by way of a neighbour, so that no reader meets half of it. Raises CannotWrite.

    What UTF-8 cannot hold (lone surrogates) is written as an escape.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", errors="backslashreplace"))
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
