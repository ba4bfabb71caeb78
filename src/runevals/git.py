"""What we ask git, and the worktree in which an old commit is run."""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from runevals.errors import InvalidSettings, WorldRefused
from runevals.locked import Held, locked

# A repository's own configuration must not start programs of its choice.
_QUIET = ("-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
TIMEOUT_S = 120.0
MOST_LINKS = 10
_WORKTREE = "runevals-base-"  # what the names of their folders begin with
_LOCK = "lock"
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def git(folder: Path, *arguments: str) -> str | None:
    """What `git` prints in `folder`, None where it fails or there is none."""
    try:
        done = subprocess.run(
            ["git", *_QUIET, *arguments],
            cwd=folder,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Names may be any bytes.
    return done.stdout.decode("utf-8", "backslashreplace").strip() if done.returncode == 0 else None


def commit_of(folder: Path, ref: str) -> str | None:
    """The commit that `ref` names, None where git knows none."""
    return git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}") or None


def default_branch(repository: Path) -> str | None:
    """The branch that changes go to: origin's, or one by the usual names, or in a new repository the first."""
    remote = git(repository, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    if remote:
        return remote.removeprefix("origin/")
    usual = (name for name in ("main", "master") if commit_of(repository, f"refs/heads/{name}"))
    return next(usual, None) or git(repository, "symbolic-ref", "--short", "HEAD")


def checked_out(folder: Path) -> tuple[str | None, tuple[str, ...]]:
    """(HEAD's commit, the parents it names, also where a shallow clone lacks these); (None, ()) without one."""
    commit = commit_of(folder, "HEAD")
    written = None if commit is None else git(folder, "cat-file", "-p", commit)
    header = (written or "").partition("\n\n")[0].splitlines()
    return commit, tuple(line.split()[1] for line in header if line.startswith("parent "))


def commits_before(folder: Path, commit: str, most: int) -> tuple[str, ...]:
    """The commits before this one on its own branch, nearest first; none where the checkout lacks them."""
    listed = git(folder, "rev-list", "--first-parent", f"--max-count={most + 1}", "--end-of-options", commit)
    return tuple((listed or "").split()[1:])


def file_at(repository: Path, commit: str, path: str) -> bytes | None:
    """What the file at `path`, relative to the repository's root, holds in a commit; None where it has none.

    Links are followed within the commit, never through the work tree.
    """
    for _ in range(MOST_LINKS):
        listed = git(repository, "ls-tree", "-z", "--full-tree", commit, "--", path)
        if not listed:
            return None
        content = _blob(repository, commit, path)
        if content is None or not listed.startswith("120000 "):
            return content
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), content.decode("utf-8", "replace")))
        if path.startswith(("/", "../")):
            return None
    return None


def _blob(repository: Path, commit: str, path: str) -> bytes | None:
    try:
        done = subprocess.run(
            ["git", *_QUIET, "cat-file", "blob", f"{commit}:{path}"],
            cwd=repository,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def fetched(repository: Path, commit: str) -> bool:
    """Whether `commit` could be brought into a checkout that lacks it, by its sha and without its history."""
    if not _SHA.fullmatch(commit):
        return False
    git(repository, "fetch", "--quiet", "--no-tags", "--depth=1", "--no-recurse-submodules", "origin", commit)
    return commit_of(repository, commit) is not None


def tracked(repository: Path, path: Path) -> bool:
    """Whether git has this file in its index."""
    return git(repository, "ls-files", "--error-unmatch", "--", f":(literal){path}") is not None


def tracked_in(repository: Path, folder: Path) -> frozenset[Path]:
    """What git has in its index of this folder: files and submodules; nothing outside the repository.

    It is asked in the root: a folder's own files may make a repository of it.
    """
    listed = git(repository, "ls-files", "-z", "--", f":(literal){folder}")
    return frozenset(repository / name for name in (listed or "").split("\0") if name)


def changed_since(repository: Path, commit: str, patterns: Sequence[str]) -> list[str] | None:
    """The files of these pathspecs that are not as in `commit`, new ones too; None where git cannot tell."""
    if not patterns:
        return []
    differing = git(repository, "diff", "--name-only", "-z", "--no-ext-diff", commit, "--", *patterns)
    new = git(repository, "ls-files", "--others", "--exclude-standard", "-z", "--", *patterns)
    if differing is None or new is None:
        return None
    return sorted({name for name in f"{differing}\0{new}".split("\0") if name})


def merge_base(repository: Path, ref: str) -> str:
    """The commit that HEAD and `ref` have in common last. Raises InvalidSettings where there is none."""
    commit = commit_of(repository, ref)
    if commit is None:
        raise InvalidSettings(f"--base {ref}: git knows no such commit here (is it fetched?)")
    common = common_ancestor(repository, commit)
    if common is None:
        raise InvalidSettings(f"--base {ref}: it has no commit in common with HEAD")
    return common


def common_ancestor(repository: Path, commit: str) -> str | None:
    """The commit that HEAD and `commit` have in common last; None where none is in this checkout."""
    return git(repository, "merge-base", "HEAD", commit) or None


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
            git(repository, "worktree", "remove", "--force", str(path))


def _remove_left_behind(repository: Path) -> None:
    """The worktrees of processes that were killed: nobody has their locks any more."""
    for line in (git(repository, "worktree", "list", "--porcelain") or "").splitlines():
        path = Path(line.removeprefix("worktree "))
        lock = path.parent / _LOCK
        if path.parent.name.startswith(_WORKTREE) and lock.is_file():
            with suppress(Held), locked(lock, surely=True):
                git(repository, "worktree", "remove", "--force", str(path))
                shutil.rmtree(path.parent, ignore_errors=True)
