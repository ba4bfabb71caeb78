"""Conclusions → files; each is written completely or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from runevals.lib.storage.bucket import PACKAGES
from runevals.lib.storage.files import STANDARD_STREAM, require_no_link, write_whole
from runevals.lib.storage.packed import pack
from runevals.records import Conclusion
from runevals.records.errors import CannotWrite, InvalidSettings
from runevals.reports import HTML, Streaming, is_packed_name, reporter_for, reporters, suffix_of


def publish(
    conclusion: Conclusion, outputs: Sequence[Path], *, was_read: bool = False, form: str = "results"
) -> None:
    """Renders and writes each output by its suffix; raises CannotWrite at the end if some could not be written.

    `was_read`: the conclusion is of unknown origin, so pages contain no command to run its target.
    """
    problems: list[str] = []
    for path in outputs:
        reporter = reporter_of(path, form)
        try:
            content = conclusion
            if was_read and reporter is HTML:
                from runevals.reports.page_cases import without_commands

                content = without_commands(conclusion)
            text = reporter.stream(content)
            if path == STANDARD_STREAM:
                print_text(text)
            else:
                write_whole(path, pack(text) if is_packed_name(path.name) else text)
        except CannotWrite as error:
            problems.append(str(error))
    if problems:
        raise CannotWrite("\n".join(problems))


def print_text(text: Iterable[str]) -> None:
    """To standard output, also where a command shows its own lines on stderr."""
    assert sys.__stdout__ is not None  # noqa: S101 - a command has one
    try:
        sys.__stdout__.writelines(text)
        sys.__stdout__.flush()
    except OSError as error:
        raise CannotWrite(f"cannot write to standard output: {error.strerror}") from error


def check_outputs(outputs: Sequence[Path]) -> None:
    """Raises InvalidSettings before a run if an output cannot be written."""
    for path in outputs:
        reporter_of(path)
        require_no_link(path)
        if path.parts[0].lower() in [f"{kind}:" for kind in PACKAGES]:  # an address, as a path
            raise InvalidSettings(f"--output {path}: only the results of one run can be written to a bucket")
        if path.is_dir():
            raise InvalidSettings(f"--output {path} is a folder; name a file in it")
        above = unwritable(path)
        if above is not None:
            raise InvalidSettings(f"--output {path} cannot be written: {above} is not a writable folder")


def unwritable(path: Path) -> Path | None:
    """The parent that prevents writing `path`; None if it can be written."""
    above = next((parent for parent in path.absolute().parents if parent.exists()), path)
    return None if above.is_dir() and os.access(above, os.W_OK) else above


def reporter_of(path: Path, form: str = "results") -> Streaming:
    """The reporter of an output by its name. Raises InvalidSettings for a suffix that none has."""
    reporter = reporter_for(path.name, form)
    if reporter is None:
        suffixes = ", ".join(suffix_of(reporter) for reporter in reporters())
        raise InvalidSettings(f"--output {path}: the suffix selects the format; use one of {suffixes}, .json.gz")
    return reporter
