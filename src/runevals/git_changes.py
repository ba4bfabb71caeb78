"""Which files are not as in a commit."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha1, sha256
from pathlib import Path

from runevals.git import FILE, LINK, git, printed


def changed_since(repository: Path, commit: str, patterns: Sequence[str]) -> list[str] | None:
    """The files of these pathspecs that are not as in `commit`, new ones too; None where git cannot tell.

    Of each, the very bytes in the work tree are looked at: no attribute says how they are to be understood.
    """
    if not patterns:
        return []
    staged = _staged_since(repository, commit, patterns)
    index = _index(repository, patterns)
    new = git(repository, "ls-files", "--others", "--exclude-standard", "-z", "--", *patterns)
    if staged is None or index is None or new is None:
        return None
    differing = {entry.name for entry in index if entry.is_changed(repository)}
    return sorted({name for name in (*staged, *differing, *new.split("\0")) if name})


def changed_here(repository: Path) -> list[str]:
    """The files that differ from HEAD; what git's own record of times and sizes says is unchanged is not read."""
    staged = _staged_since(repository, "HEAD", ()) or []
    touched = _touched(repository)
    entries = _index(repository, [f":(top,literal){name}" for name in touched]) if touched else []
    return sorted({*staged, *(entry.name for entry in entries or () if entry.is_changed(repository))})


def _staged_since(repository: Path, commit: str, patterns: Sequence[str]) -> list[str] | None:
    """What the index has otherwise than a commit. No file is read for it."""
    words = ("diff-index", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=none")
    listed = git(repository, *words, "--end-of-options", commit, "--", *patterns)
    return None if listed is None else [name for name in listed.split("\0") if name]


def _touched(repository: Path) -> list[str]:
    """What may have been written since git last looked. Filters are off: attributes could call for one."""
    words = ("diff-files", "--name-only", "-z", "--ignore-submodules=all", "--no-ext-diff", "--no-textconv")
    listed = printed(repository, words, _without_filters(repository)) or b""
    return [name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name]


def _without_filters(repository: Path) -> dict[str, str]:
    """Settings that leave every filter that is configured here without a program."""
    listed = git(repository, "config", "--name-only", "-z", "--get-regexp", r"^filter\.")
    names = {key.rpartition(".")[0] for key in (listed or "").split("\0") if key}
    off = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"{name}.{key}": value for name in names for key, value in off.items()}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in the index: its mode, the name of its content, and whether it may be missing (sparse)."""

    name: str
    mode: str
    content: str
    sparse: bool

    def is_changed(self, repository: Path) -> bool:
        """Whether the work tree has other bytes there, another kind of file, or none."""
        path = repository / self.name
        try:
            found = path.lstat().st_mode
            if self.mode == LINK:
                return not stat.S_ISLNK(found) or not self._is(os.fsencode(path.readlink()))
            if self.mode.startswith(FILE):
                executable = bool(found & stat.S_IXUSR) == (self.mode == "100755")
                return not (stat.S_ISREG(found) and executable and self._is(path.read_bytes()))
        except OSError:
            return not self.sparse
        return True  # a submodule: what is in it, only its own repository could say

    def _is(self, content: bytes) -> bool:
        named = sha1 if len(self.content) == 40 else sha256  # git names by either
        return named(b"blob %d\0" % len(content) + content).hexdigest() == self.content


def _index(repository: Path, patterns: Sequence[str]) -> list[_Entry] | None:
    listed = printed(repository, ("ls-files", "-z", "--stage", "-t", "--", *patterns))
    if listed is None:
        return None
    entries = []
    for line in filter(None, listed.decode("utf-8", "surrogateescape").split("\0")):
        told, _, name = line.partition("\t")
        tag, mode, content, _ = told.split(" ")
        entries.append(_Entry(name=name, mode=mode, content=content, sparse=tag == "S"))
    return entries
