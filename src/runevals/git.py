"""The one place that runs git, and what we ask it.

What is checked out may be a stranger's, so git never looks for a repository by itself and takes nothing from the
work tree: neither a repository laid out among its files, nor attributes, nor a program that they or a
repository's configuration name.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from runevals.errors import InvalidSettings

# A repository's own configuration must not start programs of its choice.
_QUIET = (
    "--no-pager",
    "--no-replace-objects",
    *("-c", "safe.bareRepository=explicit"),  # one that is laid out in a folder is none (git 2.38 and later)
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "submodule.recurse=false"),
)
TIMEOUT_S = 120.0
MOST_LINKS = 10
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT_SHA = re.compile(r"[0-9a-f]{4,39}")
_SUFFIX = re.compile(r"[\^~:]|@\{")  # where the name of a ref ends and the way from it begins
# What git and its helpers for a network need of our environment: no key of a target, no token of a job.
_VARIABLES = frozenset(
    {"HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR", "SSH_AUTH_SOCK", "SSH_ASKPASS", "DEVELOPER_DIR"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SYSTEMROOT", "PATHEXT", "USERPROFILE", "APPDATA"}
)
_FAMILIES = ("LC_", "XDG_", "SSL_CERT_", "GIT_CONFIG_", "GIT_SSH", "GIT_SSL_", "GIT_ASKPASS", "GIT_PROXY_")
LINK, FILE, SUBMODULE = "120000", "100", "160000"  # how the modes of git's entries begin


class NoRepository(Exception):
    """There is no repository that git would work with, and why."""


def git(repository: Path, *arguments: str) -> str | None:
    """What `git` prints of the repository with this root, None where it fails or there is none.

    Raises InvalidSettings where what looks like the repository belongs to the files of another.
    """
    output = printed(repository, arguments)
    # Names may be any bytes.
    return None if output is None else output.decode("utf-8", "backslashreplace").strip()


def printed(repository: Path, arguments: Iterable[str], settings: Mapping[str, str] | None = None) -> bytes | None:
    """The same as bytes; `settings` are git's own, for this call."""
    root = repository.resolve()
    try:
        explicit = (f"--git-dir={_git_dir(root)}", f"--work-tree={root}")
    except NoRepository:
        return None
    done = _started(root, (*explicit, *arguments), settings or {})
    return done.stdout if done is not None and done.returncode == 0 else None


def _started(
    root: Path, arguments: Iterable[str], settings: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes] | None:
    """git, run in `root` with these settings beside its own; None where there is none, or it takes too long."""
    folders = os.pathsep.join(_folders_of_programs(root))
    program = shutil.which("git", path=folders)
    if program is None:
        return None
    try:
        return subprocess.run(
            [program, *_QUIET, *arguments],
            cwd=root,
            env=_environment(root, settings) | {"PATH": folders},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _environment(root: Path, settings: Mapping[str, str]) -> dict[str, str]:
    known = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _VARIABLES or name.upper().startswith(_FAMILIES)
    }
    count = int(number) if (number := known.get("GIT_CONFIG_COUNT", "0")).isdecimal() else 0
    for place, (key, value) in enumerate(settings.items(), count):
        known |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return known | {
        "GIT_CONFIG_COUNT": str(count + len(settings)),
        "GIT_CEILING_DIRECTORIES": str(root.parent),
        "GIT_OPTIONAL_LOCKS": "0",  # to ask changes nothing
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_GRAFT_FILE": os.devnull,
    }


def _folders_of_programs(root: Path) -> list[str]:
    """Those of PATH that nothing of a checkout is in: neither of this one, nor of the one that we are in."""
    here = Path.cwd()
    ours = here if os.path.lexists(here / ".git") else _around(here) or here
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [name for name in folders if Path(name).is_absolute() and not _is_in(Path(name), (root, ours))]


def _is_in(path: Path, folders: Iterable[Path]) -> bool:
    real = Path(os.path.realpath(path))
    return any(path.is_relative_to(folder) or real.is_relative_to(folder) for folder in folders)


@cache
def _git_dir(root: Path) -> Path:
    """Where the repository with this root has its own files. Raises NoRepository, InvalidSettings.

    git itself finds it, and refuses one that belongs to another user.
    """
    if not os.path.lexists(root / ".git"):
        raise NoRepository(f"{root} is no git repository")
    done = _started(root, ("rev-parse", "--absolute-git-dir"), {})
    if done is None:
        raise NoRepository("git cannot be run")
    if done.returncode != 0:
        raise NoRepository(done.stderr.decode("utf-8", "replace").strip().partition("\n")[0])
    git_dir = Path(os.path.realpath(os.fsdecode(done.stdout.removesuffix(b"\n"))))
    _require_apart(root, git_dir)
    return git_dir


def _require_apart(root: Path, git_dir: Path) -> None:
    """Raises InvalidSettings where a repository is made of what a commit of the one around it can bring along.

    git puts nothing that is named `.git` into a work tree, so what lies below such a folder is of no commit.
    """
    outer = _around(root)
    if outer is None:
        return
    among = [folder for folder in (root, outer) if _is_among_files(git_dir, folder)]
    planted = bool(among) and _common_dir(outer) != _common_dir_of(git_dir)  # else: a worktree beside a bare one
    entries = _entries_below(outer, root)
    if planted or (entries and not entries[0].startswith(SUBMODULE)):
        raise InvalidSettings(
            f"{root / '.git'} makes a repository of files that belong to the one around it, {outer}; git is not "
            "run there: remove it"
        )


def _around(root: Path) -> Path | None:
    return next((folder for folder in root.parents if os.path.lexists(folder / ".git")), None)


def _is_among_files(git_dir: Path, folder: Path) -> bool:
    return git_dir.is_relative_to(folder) and ".git" not in git_dir.relative_to(folder).parts


def _common_dir(root: Path) -> Path | None:
    with suppress(NoRepository):
        return _common_dir_of(_git_dir(root))
    return None


def _common_dir_of(git_dir: Path) -> Path:
    """Of a worktree, the repository that it is one of."""
    try:
        named = (git_dir / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return git_dir
    return Path(os.path.realpath(git_dir / named))


def _entries_below(repository: Path, folder: Path) -> list[str]:
    """What a repository has of this folder in its index, as git lists it."""
    named = folder.relative_to(repository).as_posix()
    listed = git(repository, "ls-files", "-z", "--stage", "--", f":(top,literal){named}")
    return listed.split("\0") if listed else []


def submodule_of(repository: Path) -> Path | None:
    """The root of the repository that has this one as a submodule; None where none has."""
    root = repository.resolve()
    outer = _around(root)
    if outer is None:
        return None
    return outer if any(entry.startswith(SUBMODULE) for entry in _entries_below(outer, root)) else None


def why_none(repository: Path) -> str | None:
    """Why git cannot be asked here; None where it can."""
    try:
        _git_dir(repository.resolve())
    except NoRepository as why:
        return str(why)
    return None


def commit_of(repository: Path, ref: str) -> str | None:
    """The commit that `ref` names, None where git knows none."""
    return git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}") or None


def branch_of(repository: Path) -> str | None:
    """The branch that is checked out, HEAD where none is; None without a commit."""
    if commit_of(repository, "HEAD") is None:
        return None
    return git(repository, "symbolic-ref", "--quiet", "--short", "HEAD") or "HEAD"


def default_branch(repository: Path) -> str | None:
    """The branch that changes go to: origin's, or one by the usual names, or in a new repository the first."""
    remote = git(repository, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    if remote:
        return remote.removeprefix("origin/")
    usual = (name for name in ("main", "master") if commit_of(repository, f"refs/heads/{name}"))
    return next(usual, None) or git(repository, "symbolic-ref", "--short", "HEAD")


def checked_out(repository: Path) -> tuple[str | None, tuple[str, ...]]:
    """(HEAD's commit, the parents it names, also where a shallow clone lacks these); (None, ()) without one."""
    commit = commit_of(repository, "HEAD")
    written = None if commit is None else git(repository, "cat-file", "-p", commit)
    header = (written or "").partition("\n\n")[0].splitlines()
    return commit, tuple(line.split()[1] for line in header if line.startswith("parent "))


def commits_before(repository: Path, commit: str, most: int) -> tuple[str, ...]:
    """The commits before this one on its own branch, nearest first; none where the checkout lacks them."""
    words = ("rev-list", "--first-parent", f"--max-count={most + 1}", "--end-of-options", commit, "--")
    return tuple((git(repository, *words) or "").split()[1:])


def file_at(repository: Path, commit: str, path: str) -> bytes | None:
    """What the file at `path`, relative to the repository's root, holds in a commit; None where it has none.

    Links are followed within the commit, never through the work tree.
    """
    for _ in range(MOST_LINKS):
        listed = git(repository, "ls-tree", "-z", "--full-tree", commit, "--", path)
        if not listed:
            return None
        content = printed(repository, ("cat-file", "blob", f"{commit}:{path}"))
        if content is None or not listed.startswith(f"{LINK} "):
            return content
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), content.decode("utf-8", "replace")))
        if path.startswith(("/", "../")):
            return None
    return None


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
    """What git has in its index of this folder: files and submodules; nothing outside the repository."""
    listed = git(repository, "ls-files", "-z", "--", f":(literal){folder}")
    return frozenset(repository / name for name in (listed or "").split("\0") if name)


def files_of(repository: Path, *, tracked: bool = True) -> list[str] | None:
    """The names of the files that git does not ignore, with those it has in its index or without them.

    None where git cannot tell.
    """
    indexed = ("--cached",) if tracked else ()
    listed = git(repository, "ls-files", "-z", *indexed, "--others", "--exclude-standard")
    return None if listed is None else [name for name in listed.split("\0") if name]


def merge_base(repository: Path, ref: str) -> str:
    """The commit that HEAD and `ref` have in common last. Raises InvalidSettings where there is none."""
    why = why_none(repository)
    if why is not None:
        raise InvalidSettings(f"--base {ref}: git cannot be asked here: {why}")
    _require_one_meaning(repository, ref)
    commit = commit_of(repository, ref)
    if commit is None:
        raise InvalidSettings(f"--base {ref}: git knows no such commit here (is it fetched?)")
    common = common_ancestor(repository, commit)
    if common is None:
        raise InvalidSettings(f"--base {ref}: it has no commit in common with HEAD")
    return common


def _require_one_meaning(repository: Path, ref: str) -> None:
    """Raises InvalidSettings where a tag, a branch and a remote's branch of one name are different commits.

    git would take the tag, which whoever may push one chooses.
    """
    name = _SUFFIX.split(ref, maxsplit=1)[0]
    if not name or _SHA.fullmatch(name):
        return
    places = [f"refs/{name}", f"refs/tags/{name}", f"refs/heads/{name}", f"refs/remotes/{name}"]
    listed = git(repository, "for-each-ref", "--format=%(refname)", *places, f"refs/remotes/{name}/HEAD") or ""
    found = [line for line in listed.splitlines() if line in (*places, f"refs/remotes/{name}/HEAD")]
    if found and _SHORT_SHA.fullmatch(name):
        found += (git(repository, "rev-parse", f"--disambiguate={name}") or "").splitlines()
    if len({commit_of(repository, each) or each for each in found}) > 1:
        raise InvalidSettings(f"--base {ref}: it may be any of {', '.join(found)}; name one of them in full")


def common_ancestor(repository: Path, commit: str) -> str | None:
    """The commit that HEAD and `commit` have in common last; None where none is in this checkout."""
    return git(repository, "merge-base", "HEAD", commit) or None
