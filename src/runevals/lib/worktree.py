"""The worktree in which an old commit is run."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runevals.lib.git import git
from runevals.lib.storage.file_lock import Held, locked
from runevals.records.errors import WorldRefused

_WORKTREE = "runevals-base-"  # what the names of their folders begin with
_LOCK = "lock"


@contextmanager
def worktree(repository: Path, commit: str) -> Iterator[Path]:
    """A checkout of `commit` beside the repository, gone afterwards. Raises WorldRefused."""
    _remove_left_behind(repository)
    with tempfile.TemporaryDirectory(prefix=_WORKTREE) as folder, locked(Path(folder, _LOCK)):
        path = Path(folder, "base")
        if git(repository, "worktree", "add", "--detach", "--quiet", str(path), commit) is None:
            raise WorldRefused(f"git cannot check out the base commit {commit[:7]} beside {repository}")
        try:
            yield path
        finally:
            _remove_worktree(repository, path)


def _remove_worktree(repository: Path, path: Path) -> None:
    """Deletes a checkout of ours, and then git's note of it: by our own hands, which follow no link."""
    shutil.rmtree(path, ignore_errors=True)
    git(repository, "worktree", "remove", "--force", str(path))


def _remove_left_behind(repository: Path) -> None:
    """The worktrees of processes that were killed: nobody has their locks any more."""
    for line in (git(repository, "worktree", "list", "--porcelain") or "").splitlines():
        path = Path(line.removeprefix("worktree "))
        if line.startswith("worktree ") and _is_ours(path):
            with suppress(Held), locked(path.parent / _LOCK, surely=True):
                _remove_worktree(repository, path)
                shutil.rmtree(path.parent, ignore_errors=True)


def _is_ours(checkout: Path) -> bool:
    """Whether we made this folder: where and as `worktree` makes them, of this user, and no link in it."""
    folder = checkout.parent
    if folder.parent != Path(os.path.realpath(tempfile.gettempdir())) or not folder.name.startswith(_WORKTREE):
        return False
    try:
        found, lock = folder.lstat(), (folder / _LOCK).lstat()
    except OSError:
        return False
    own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    private = stat.S_IMODE(found.st_mode) == stat.S_IRWXU
    return own and private and stat.S_ISDIR(found.st_mode) and stat.S_ISREG(lock.st_mode)
