"""The folder that an attempt works in: how it is filled, what is looked at in it, what the attempt made of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from runevals.records.values import Number, Whole

Keep = Literal["never", "on-failure", "always"]
Argv = tuple[str, ...]


class Workspace(Struct, frozen=True, kw_only=True, gc=False):
    """What a fresh copy is made of, in this order: folder or commit, files, the case's files, setup."""

    folder: Path | None = None  # absolute
    repository: Path | None = None  # of `commit`
    commit: str | None = None  # as the suite names it
    files: Mapping[str, str] = {}  # path in the workspace → text
    setup: tuple[Argv, ...] = ()
    keep: Keep = "never"


class FileProbe(Struct, frozen=True, kw_only=True, gc=False):
    """A file that a check looks at."""

    path: str  # in the workspace


class ProgramProbe(Struct, frozen=True, kw_only=True, gc=False):
    """A program that a check runs in the workspace; `restore` are paths that are put back as they were before."""

    argv: Argv
    timeout_s: Number = 60.0
    restore: tuple[str, ...] = ()


Probe = FileProbe | ProgramProbe


class FileFound(Struct, frozen=True, kw_only=True, gc=False):
    """What stands at the path of a probe; `text` is None of what is not text, or too large."""

    path: str
    kind: Literal["file", "folder", "link", "other"] | None
    text: str | None = None
    size: Whole | None = None


class ProgramEnded(Struct, frozen=True, kw_only=True, gc=False):
    """How a program ended that was run in the workspace; `exit_code` is None of one that never ended by itself."""

    probe: ProgramProbe
    exit_code: Whole | None
    last_lines: str = ""
    stdout: str = ""  # its end, where a result may stand
    problem: str | None = None  # why it could not be run at all
    late: bool = False  # it was ended at its time limit
    too_much: bool = False  # it was ended because it printed too much


class FileChange(Struct, frozen=True, kw_only=True, gc=False):
    """One path that is not as it was; lines are None of what is not text."""

    path: str
    change: Literal["added", "changed", "removed"]
    lines_added: Whole | None = None
    lines_removed: Whole | None = None
    size: Whole | None = None  # bytes, now
    sha256: str | None = None  # of what is there now; of a link, of where it leads


class WorkspaceChanges(Struct, frozen=True, kw_only=True, gc=False):
    """What an attempt changed in its workspace so far, and what the probes of its checks found there."""

    changes: tuple[FileChange, ...] = ()
    diff: str = ""  # unified
    diff_complete: bool = True
    files: tuple[FileFound, ...] = ()
    programs: tuple[ProgramEnded, ...] = ()
