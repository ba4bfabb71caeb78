"""The worktree for a run of an old commit, and the files shared with it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runevals.lib.storage.file_lock import AlreadyLocked, file_lock
from runevals.programs.processes import is_open_to_programs, make_for_git, open_to_programs
from runevals.records.errors import ExternalError, InvalidSettings
from runevals.repository.git import git, is_ignored, tracked_in

_WORKTREE = "runevals-base-"  # what the names of their folders begin with
_LOCK = "lock"


@contextmanager
def worktree(repository: Path, commit: str) -> Iterator[Path]:
    """A temporary checkout of `commit` beside the repository. Raises ExternalError."""
    _remove_abandoned(repository)
    with tempfile.TemporaryDirectory(prefix=_WORKTREE) as folder, file_lock(Path(folder, _LOCK)):
        open_to_programs(Path(folder))
        path = Path(folder, "base")
        make_for_git(path)
        if git(repository, "worktree", "add", "--detach", "--quiet", str(path), commit) is None:
            raise ExternalError(f"git cannot check out the base commit {commit[:7]} beside {repository}")
        try:
            yield path
        finally:
            _remove_worktree(repository, path)


def _remove_worktree(repository: Path, path: Path) -> None:
    """Deletes a worktree, then git's entry for it, without following links."""
    shutil.rmtree(path, ignore_errors=True)
    git(repository, "worktree", "remove", "--force", str(path))


def _remove_abandoned(repository: Path) -> None:
    """Removes the worktrees of killed processes, whose locks are free."""
    if not any(Path(tempfile.gettempdir()).glob(f"{_WORKTREE}*")):
        return  # as mostly: git need not be asked
    for line in (git(repository, "worktree", "list", "--porcelain") or "").splitlines():
        path = Path(line.removeprefix("worktree "))
        if line.startswith("worktree ") and _is_ours(path):
            with suppress(AlreadyLocked), file_lock(path.parent / _LOCK, required=True):
                _remove_worktree(repository, path)
                shutil.rmtree(path.parent, ignore_errors=True)


def _is_ours(checkout: Path) -> bool:
    """Whether `worktree` created this folder: by path and form, owned by this user, without links."""
    folder = checkout.parent
    if folder.parent != Path(os.path.realpath(tempfile.gettempdir())) or not folder.name.startswith(_WORKTREE):
        return False
    with suppress(OSError):
        info, lock = folder.lstat(), (folder / _LOCK).lstat()
        return is_open_to_programs(info) and stat.S_ISREG(lock.st_mode)
    return False


def copy_changes(changes: Iterable[tuple[str | None, str | None]], repository: Path, checkout: Path) -> None:
    """Makes a worktree of HEAD, in which no program ran yet, equal to the work tree, where these files differ.

    (path in HEAD, path in the work tree); None: it is not there. Raises InvalidSettings for a path behind a link
    that leads out of the worktree.
    """
    pairs = [*changes]  # a folder may stand in place of a file, or the reverse: all are removed first
    for name in (name for pair in pairs for name in pair if name is not None):
        target = checkout / name
        if not target.parent.resolve().is_relative_to(checkout.resolve()):
            raise InvalidSettings(f"{name} is behind a link that leads out of the repository")
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        elif os.path.lexists(target):
            target.unlink()
    for _, new in pairs:
        if new is not None:
            (checkout / new).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / new, checkout / new, follow_symlinks=False)


def share(name: str, repository: Path, checkout: Path) -> None:
    """Makes an ignored path of a repository available in a worktree, if it exists.

    Folders are created, files become links to the repository. A link stays unchanged: a target inside the
    repository is then that of the worktree. Raises InvalidSettings for a path that must not be shared.
    """
    words = Path(name).parts
    if not words or ".." in words or Path(name).is_absolute():
        raise InvalidSettings(f"share: {name} is not a path below the repository")
    source, target = repository / name, checkout / name
    if not os.path.lexists(source):
        return
    _require_sharable(name, repository, checkout)
    target.parent.mkdir(parents=True, exist_ok=True)
    if not source.is_dir():
        target.symlink_to(source.resolve())
        return
    source = source.resolve()
    for folder, folders, files in os.walk(source):
        there = target / Path(folder).relative_to(source)
        there.mkdir()
        for entry in (Path(folder, each) for each in (*folders, *files)):
            if entry.is_symlink():
                (there / entry.name).symlink_to(_moved_link(entry, repository, checkout))
            elif entry.name in files:
                _share_file(entry, there / entry.name, repository, checkout)


def _require_sharable(name: str, repository: Path, checkout: Path) -> None:
    source, target = repository / name, checkout / name
    root, real = repository.resolve(), source.resolve()
    if not real.is_relative_to(root) or real == root:
        raise InvalidSettings(f"share: {name} leads out of the repository by a link")
    if ".git" in map(str.lower, real.relative_to(root).parts):
        raise InvalidSettings(f"share: {name} is git's own")
    if not is_ignored(root, real) or tracked_in(repository, source) != frozenset():
        raise InvalidSettings(f"share: git does not ignore {name}, or has files there; a base has its own")
    if os.path.lexists(target) or not target.parent.resolve().is_relative_to(checkout.resolve()):
        raise InvalidSettings(f"share: the base has {name} itself")
    if checkout.resolve().is_relative_to(real):
        raise InvalidSettings(f"share: {name} is where worktrees are made")


def _moved_link(link: Path, repository: Path, checkout: Path) -> str:
    """Where a link of a shared folder leads to in the checkout; outside the repository it stays what it is."""
    target_ = link.readlink()
    target = Path(os.path.normpath(link.parent / target_))  # lexically: the target may be a link again
    root = repository.resolve()
    if not target.is_relative_to(root):
        return str(target)
    return str(checkout / target.relative_to(root) if target_.is_absolute() else target_)


def _share_file(file: Path, target: Path, repository: Path, checkout: Path) -> None:
    """A link to a file; for a `.pth` file with packages of the repository, a copy with the worktree's paths."""
    if file.suffix == ".pth" or file.name.startswith("__editable__"):
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
        moved = with_paths_moved(text, [str(repository.resolve())], checkout.resolve())
        if moved != text:
            target.write_text(moved, encoding="utf-8", errors="surrogateescape")
            return
    target.symlink_to(file)


def with_paths_moved(text: str, roots: Collection[str], to: Path) -> str:
    """`text` with `to` in place of each of `roots`, if it is a path or a path begins with it.

    `/srv/app` is neither in `/srv/app-data` nor in `/mnt/srv/app`; in `-I/srv/app` it is, and in `file:///srv/app`.
    """
    if not any(root in text for root in roots):
        return text
    names = "|".join(re.escape(root) for root in sorted(roots, key=len, reverse=True))
    before = r"""(^|[\s:;,='"`|(\[{<@/]|(?:^|\s)-[A-Za-z])"""
    return re.sub(rf"{before}(?:{names})(?![\w.+@~%-])", lambda match: f"{match[1]}{to}", text)
