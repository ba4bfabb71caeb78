"""All calls of git.

A checkout may be untrusted, so git never searches for a repository and uses nothing of the work tree: no
embedded repository, no attributes, and no program that these name. Of the repository's own configuration, which
no commit contains, git uses what brings its files: filters such as Git LFS, the transport of a partial clone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path, PurePosixPath

from msgspec import Struct

from runevals.lib.nullable import if_known
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase, short_list
from runevals.programs.processes import as_owner
from runevals.records.errors import ExternalError, InvalidSettings

# Of a repository's own configuration, hooks, pagers and monitors are not started.
_QUIET = (
    "--no-pager",
    "--no-replace-objects",
    *("-c", "safe.bareRepository=explicit"),  # ignore repositories embedded in a folder (git 2.38 and later)
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "submodule.recurse=false"),
)
TIMEOUT_S = 120.0
GIT = "git"  # how suites call a commit's files
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SIGN = re.compile(r"[^A-Za-z0-9]")
_SHORT_SHA = re.compile(r"[0-9a-f]{4,39}")
_BRANCH = re.compile(r"\A(?:origin/)?(\w[\w./-]*)\Z")  # its name at the remote
_SUFFIX = re.compile(r"[\^~:]|@\{")  # the end of a ref's name in a revision
# What git and its helpers for a network need of our environment: no key of a target, no token of a job.
_VARIABLES = frozenset(
    {"HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR", "SSH_AUTH_SOCK", "SSH_ASKPASS", "DEVELOPER_DIR"}
    | {"SUDO_UID", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SYSTEMROOT", "PATHEXT", "USERPROFILE", "APPDATA"}
)
# Values that lead into a checkout are dropped: a change could have written the files there.
_PATHS = frozenset({"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_SSH", "GIT_ASKPASS"})
_PATHS |= {"SSH_ASKPASS", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
_FAMILIES = ("LC_", "XDG_", "SSL_CERT_", "GIT_CONFIG_", "GIT_SSH", "GIT_SSL_", "GIT_ASKPASS", "GIT_PROXY_")
_NOTHING = b"", b"", b""
LINK, FILE, SUBMODULE = "120000", "100", "160000"  # how the modes of git's entries begin


class NoRepository(Exception):
    """There is no repository that git works with; the message says why."""


class UnreadableRepository(NoRepository):
    """There is a repository, but git refuses it, or git is not installed."""


def git(repository: Path, *arguments: str) -> str | None:
    """The output of git in the repository with this root; None if it fails or there is no repository.

    Raises InvalidSettings if the repository is made of files of an outer one.
    """
    # Names may be any bytes.
    return if_known(lambda text: text.decode(errors="backslashreplace").strip(), git_output(repository, arguments))


def names(repository: Path, *arguments: str) -> list[str] | None:
    """The names in the output of `git … -z`; None if it fails or there is no repository."""
    output = git_output(repository, arguments)
    return if_known(lambda text: list(filter(None, os.fsdecode(text).split("\0"))), output)


def git_output(
    repository: Path, arguments: Iterable[str], *, settings: Mapping[str, str] | None = None, stdin: bytes = b""
) -> bytes | None:
    """The output as bytes; `settings` are git's configuration for this call, `stdin` is its input."""
    root = repository.resolve()
    try:
        explicit = (f"--git-dir={_git_dir(root)}", f"--work-tree={root}")
    except NoRepository:
        return None
    done = _run(root, (*explicit, *arguments), settings or {}, stdin)
    return done.stdout if done is not None and done.returncode == 0 else None


def _run(
    root: Path, arguments: Iterable[str], settings: Mapping[str, str], stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes] | None:
    """Runs git in `root` with these additional settings; None if it is not installed or takes too long."""
    folders = _outside_checkout(os.environ.get("PATH", os.defpath), root)
    program = shutil.which("git", path=folders)
    if program is None:
        return None
    with suppress(OSError, subprocess.TimeoutExpired), as_owner():
        return subprocess.run(
            [program, *_QUIET, *arguments],
            cwd=root,
            env=_environment(root, settings) | {"PATH": folders},
            input=stdin,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    return None


def _environment(root: Path, settings: Mapping[str, str]) -> dict[str, str]:
    variables = {
        name: value
        for name, value in os.environ.items()
        if (name.upper() in _VARIABLES or name.upper().startswith(_FAMILIES))
        and (name not in _PATHS or _outside_checkout(value, root))
    }
    count = int(number) if (number := variables.get("GIT_CONFIG_COUNT", "0")).isdecimal() else 0
    for index, (key, value) in enumerate(settings.items(), count):
        variables |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return variables | {
        "GIT_CONFIG_COUNT": str(count + len(settings)),
        "GIT_CEILING_DIRECTORIES": str(root.parent),
        "GIT_OPTIONAL_LOCKS": "0",  # queries change nothing
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        "GIT_GRAFT_FILE": os.devnull,
    }


def _outside_checkout(paths: str, root: Path) -> str:
    """The entries of a path list that are outside of `root` and of the current checkout."""
    here = Path.cwd()
    checkout = here if os.path.lexists(here / ".git") else _outer_repository(here) or here
    return _outside(paths, root, checkout)


@cache
def _outside(paths: str, *folders: Path) -> str:
    absolute = [path for path in paths.split(os.pathsep) if Path(path).is_absolute()]
    return os.pathsep.join(path for path in absolute if not _is_in(Path(path), folders))


def _is_in(path: Path, folders: Iterable[Path]) -> bool:
    real = Path(os.path.realpath(path))
    return any(path.is_relative_to(folder) or real.is_relative_to(folder) for folder in folders)


@cache
def _git_dir(root: Path) -> Path:
    """The `.git` folder of the repository with this root. Raises NoRepository, InvalidSettings.

    git itself finds it, and refuses one that belongs to another user.
    """
    place = root / ".git"
    is_of_worktree = os.path.isfile(place)  # noqa: PTH113 - False if it may not be looked at
    if not is_of_worktree and not os.path.lexists(place / "HEAD"):
        raise NoRepository(f"{root} is not a git repository")
    done = _run(root, ("rev-parse", "--absolute-git-dir"), {})
    if done is None:
        raise UnreadableRepository("git cannot be run")
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise (NoRepository if "not a git repository" in reason else UnreadableRepository)(reason)
    git_dir = Path(os.path.realpath(os.fsdecode(done.stdout.removesuffix(b"\n"))))
    _require_apart(root, git_dir)
    return git_dir


def _require_apart(root: Path, git_dir: Path) -> None:
    """Raises InvalidSettings if a repository is made of files of an outer one: a commit may contain it."""
    outer = _outer_repository(root)
    if outer is None:
        return
    entries = _entries_below(outer, root)
    submodule = bool(entries) and entries[0].startswith(SUBMODULE)
    if (entries and not submodule) or (git_dir.is_relative_to(outer) and _entries_below(outer, git_dir)):
        raise InvalidSettings(
            f"{root / '.git'} makes a repository of files that belong to the one around it, {outer}; git is not "
            "run there: remove it"
        )


def _outer_repository(root: Path) -> Path | None:
    return next((folder for folder in root.parents if os.path.lexists(folder / ".git")), None)


def _entries_below(repository: Path, folder: Path) -> list[str]:
    """The index entries of a repository below this folder, as git lists them."""
    pathspec = f":(top,literal){folder.relative_to(repository).as_posix()}"
    return names(repository, "ls-files", "-z", "--stage", "--", pathspec) or []


def submodule_of(repository: Path) -> Path | None:
    """The root of the repository that has this one as a submodule, or None."""
    root = repository.resolve()
    outer = _outer_repository(root)
    entries = () if outer is None else _entries_below(outer, root)
    return outer if any(entry.startswith(SUBMODULE) for entry in entries) else None


def why_unreadable(repository: Path) -> str | None:
    """Why git refuses the repository here (it may belong to another user), or None."""
    trouble = _repository_error(repository)
    return str(trouble) if isinstance(trouble, UnreadableRepository) else None


def new_repository(folder: Path) -> bool:
    """Makes a repository of what is in a folder of ours, with one commit; whether that succeeded."""
    author = {"user.name": "runevals", "user.email": "runevals@localhost", "commit.gpgsign": "false"}
    steps = (
        ("init", "--quiet"),
        ("add", "--all", "--force"),
        ("commit", "--quiet", "--allow-empty", "-m", "Start"),
    )
    return all((done := _run(folder, step, author)) is not None and done.returncode == 0 for step in steps)


def why_unavailable(repository: Path) -> str | None:
    """Why git cannot be used here, or None."""
    return if_known(str, _repository_error(repository))


def _repository_error(repository: Path) -> NoRepository | None:
    try:
        _git_dir(repository.resolve())
    except NoRepository as error:
        return error
    return None


def _is_nowhere(repository: Path) -> bool:
    """Whether there is no repository, so that nothing was committed."""
    return type(_repository_error(repository)) is NoRepository


def commit_of(repository: Path, ref: str | None) -> str | None:
    """The commit of `ref`, or None."""
    if ref is None:
        return None
    with suppress(LookupError):
        return (_commit_of_sha if _SHA.fullmatch(ref) else _commit_of)(repository, ref)
    return None


def _commit_of(repository: Path, ref: str) -> str:
    """Raises LookupError if there is none."""
    commit = git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if not commit:
        raise LookupError(ref)
    return commit


_commit_of_sha = lru_cache(4096)(_commit_of)  # a commit that is here stays here


def tree_of(repository: Path, commit: str) -> str | None:
    """The id of a commit's tree; None if the commit is unknown."""
    return git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{tree}}") or None


def same_files(repository: Path, commit: str, other: str) -> bool:
    """Whether git knows both commits and their files are the same."""
    tree = tree_of(repository, commit)
    return tree is not None and tree == tree_of(repository, other)


def merged_tree(repository: Path, commit: str, other: str) -> str | None:
    """The tree of two commits merged; None if they conflict, or git does not know them or how (before 2.38)."""
    merged = git(repository, "merge-tree", "--write-tree", commit, other)
    return if_known(lambda text: text.partition("\n")[0], merged)


class Head(Struct, frozen=True):
    """What is checked out; nothing without a commit."""

    commit: str | None = None
    branch: str | None = None  # HEAD if detached


def head_of(repository: Path) -> Head:
    """What is checked out now."""
    answer = git(repository, "rev-parse", "HEAD^{commit}", "--abbrev-ref", "HEAD")
    return Head(*filter(None, (answer or "").split("\n")))


def committed_at(repository: Path) -> float:
    """When the commit that is checked out was made, in seconds since 1970; 0 without one."""
    return float(git(repository, "log", "-1", "--format=%ct", "HEAD") or 0)


def default_branch(repository: Path) -> str | None:
    """The branch that changes go to: origin's, or one by the usual names, or in a new repository the first."""
    remote = git(repository, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    if remote:
        return remote.removeprefix("origin/")
    usual = (name for name in ("main", "master") if commit_of(repository, f"refs/heads/{name}"))
    return next(usual, None) or git(repository, "symbolic-ref", "--short", "HEAD")


def head_and_parents(repository: Path) -> tuple[str | None, tuple[str, ...]]:
    """(HEAD's commit, its parents, even if a shallow clone lacks them); (None, ()) without a commit."""
    output = git_output(repository, ("cat-file", "--batch"), stdin=b"HEAD^{commit}\n") or b""
    name, *header = output.partition(b"\n\n")[0].decode("utf-8", "replace").splitlines() or [""]
    if not name.partition(" ")[2].startswith("commit "):
        return None, ()
    return name.partition(" ")[0], tuple(line.split()[1] for line in header if line.startswith("parent "))


def commits_before(repository: Path, commit: str, most: int) -> tuple[str, ...]:
    """The commits before this one on its own branch, nearest first; empty if the checkout lacks them."""
    words = ("rev-list", "--first-parent", f"--max-count={most + 1}", "--end-of-options", commit, "--")
    return tuple((git(repository, *words) or "").split()[1:])


def file_at(repository: Path, commit: str, path: str) -> bytes | None:
    """The content of the file at `path`, relative to the repository's root, in a commit; None if it is absent.

    Links are followed within the commit, never through the work tree. Raises ExternalError if
    the checkout lacks parts of the commit, or the path leads into a submodule.
    """
    return files_at(repository, commit, (path,))[0]


def files_at(repository: Path, commit: str, paths: Sequence[str]) -> list[bytes | None]:
    """The contents of several files of a commit, as `file_at`."""
    return [content if kind == b"blob" else None for kind, _, content in _objects_at(repository, commit, paths)]


def files_in(repository: Path, commit: str, folder: str) -> list[str]:
    """The names in a folder of a commit, empty if it is absent. Otherwise like `file_at`."""
    kind, name, _ = _objects_at(repository, commit, (folder,))[0]
    return (names(repository, "ls-tree", "-z", "--name-only", name.decode()) or []) if kind == b"tree" else []


def _objects_at(repository: Path, commit: str, paths: Sequence[str]) -> list[tuple[bytes, bytes, bytes]]:
    """(blob, tree or nothing, its name, its content) at each path of a commit. Raises as `file_at`."""
    output = None
    if not any("\n" in path for path in paths):
        words = ("cat-file", "--batch", "--follow-symlinks")
        lines = b"".join(os.fsencode(f"{commit}:{path}\n") for path in paths)
        output = git_output(repository, words, stdin=lines)
    if output is None:
        what = ", ".join(paths)
        raise ExternalError(
            f"git cannot read {what} of {commit[:7]}; check out with `fetch-depth: 0`, and no filter"
        )
    stream = BytesIO(output)
    return [next_object(stream) or _no_object(repository, commit, path) for path in paths]


def next_object(stream: BytesIO) -> tuple[bytes, bytes, bytes] | None:
    """The next answer of `git cat-file --batch`; None if the commit has nothing there."""
    *words, last = stream.readline().split()
    if last in (b"missing", b"ambiguous"):
        return None
    content = stream.read(int(last))
    stream.read(1)  # the end of its line
    name, kind = words if len(words) == 2 else (b"", b"")
    return (kind, name, content) if kind in (b"blob", b"tree") else _NOTHING  # a link that leads nowhere


def _no_object(repository: Path, commit: str, path: str) -> tuple[bytes, bytes, bytes]:
    above = [str(folder) for folder in PurePosixPath(path).parents][:-1]
    entries = names(repository, "ls-tree", "-z", "--full-tree", commit, "--", *above) if above else None
    for entry in entries or ():
        if entry.startswith(SUBMODULE):
            submodule = entry.partition("\t")[2]
            raise ExternalError(
                f"{path} of {commit[:7]} is in the submodule {submodule}, whose files are not part of that commit"
            )
    return _NOTHING


def fetch_commit(repository: Path, commit: str) -> str | None:
    """The commit that the checkout lacks, fetched by its sha and without its history; None if that failed."""
    if not _SHA.fullmatch(commit):
        return None
    git(repository, "fetch", "--quiet", "--no-tags", "--depth=1", "--no-recurse-submodules", "origin", commit)
    return commit_of(repository, commit)


def may_be_committed(repository: Path, path: Path) -> bool:
    """Whether git tracks this path, or a link or submodule that leads to it. True if git does not answer."""
    return commit_check(repository)(path)


def commit_check(repository: Path) -> Callable[[Path], bool]:
    """Whether a path is committed, for any number of paths: git is asked once."""
    indexed = [] if _is_nowhere(repository) else names(repository, "ls-files", "-z")
    known = if_known(frozenset, indexed)
    roots = dict.fromkeys((repository, repository.resolve()))

    def may_be(path: Path) -> bool:
        paths = [Path(os.path.abspath(path)), path.resolve()]  # noqa: PTH100 - by its words, and links followed
        inside = [each.relative_to(root) for each in paths for root in roots if each.is_relative_to(root)]
        parts = {str(part) for each in inside for part in (each, *each.parents)}
        return known is None or not known.isdisjoint(parts)

    return may_be


def is_ignored(repository: Path, path: Path) -> bool:
    """Whether git ignores this path and tracks nothing of it."""
    inside = os.path.relpath(path, repository)
    output = git_output(repository, ("check-ignore", "--stdin", "-z"), stdin=os.fsencode(inside) + b"\0")
    return output is not None and tracked_in(repository, path) == frozenset()


def tracked_in(repository: Path, folder: Path) -> frozenset[Path] | None:
    """The tracked files and submodules in this folder; None if git does not answer.

    Empty if there is no repository, or the folder is outside.
    """
    if _is_nowhere(repository) or not folder.is_relative_to(repository):
        return frozenset()
    files = names(repository, "ls-files", "-z", "--", f":(literal){folder}")
    return if_known(lambda every: frozenset(map(repository.joinpath, every)), files)


def is_ancestor(repository: Path, commit: str, of: str) -> bool:
    """Whether git knows that `of` has this commit in its history; a shallow checkout may lack it."""
    return git(repository, "merge-base", "--is-ancestor", commit, of) is not None


def links_to(repository: Path, folder: Path) -> list[Path]:
    """Other paths of the repository that lead to this folder through a tracked link."""
    entries = names(repository, "ls-files", "-z", "--stage") or []
    links = [repository / entry.partition("\t")[2] for entry in entries if entry.startswith(LINK)]
    targets = [(link, link.resolve()) for link in links if link.is_dir()]
    return [link / folder.relative_to(target) for link, target in targets if folder.is_relative_to(target)]


def ignored_in(repository: Path) -> list[str]:
    """The files that git ignores, and the folders that hold nothing else; empty if git does not answer."""
    ignored = names(repository, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return [name.rstrip("/") for name in ignored or ()]


def matches_in(repository: Path, commit: str, patterns: Iterable[str], files: Iterable[str]) -> frozenset[str]:
    """What matches these extended regular expressions in a commit, in `files` of these patterns of git."""
    lines = "\n".join(patterns)
    if not lines:
        return frozenset()
    words = ("grep", "-I", "-h", "-o", "-E", "-f", "-", commit, "--", *files)
    output = git_output(repository, words, stdin=os.fsencode(f"{lines}\n"))
    return frozenset(os.fsdecode(output or b"").split("\n")) - {""}


def words_at(repository: Path, commit: str | None) -> Callable[[Iterable[str]], frozenset[str]]:
    """Which of some words the files of a commit contain, or are commits.

    They may be secrets, so that git is told their first characters only.
    """

    def contained(words: Iterable[str]) -> frozenset[str]:
        beginnings = {f"{_SIGN.sub('.', word[:3])}[^[:space:]]*" for word in words}
        texts = matches_in(repository, commit, sorted(beginnings), ()) if commit else frozenset()
        return frozenset(
            word
            for word in words
            if any(word in text for text in texts) or (_SHA.fullmatch(word) and commit_of(repository, word))
        )

    return contained


def files_of(repository: Path, *, tracked: bool = True) -> list[str] | None:
    """The files that git does not ignore, with or without the tracked ones. None if git does not answer."""
    return names(
        repository, "ls-files", "-z", *(("--cached",) if tracked else ()), "--others", "--exclude-standard"
    )


def merge_base(repository: Path, ref: str) -> str:
    """The last common commit of HEAD and `ref`. Raises InvalidSettings if there is none."""
    reason = why_unavailable(repository)
    if reason is not None:
        raise InvalidSettings(
            f"--base {ref}: git cannot be used here: {reason}; without it, name results: --baseline FILE"
        )
    _require_one_meaning(repository, ref)
    commit = commit_of(repository, ref)
    if commit is None:
        raise InvalidSettings(f"--base {ref}: git knows no such commit here{_branches_here(repository, ref)}")
    common = common_ancestor(repository, commit)
    if common is None:
        is_shallow = git(repository, "rev-parse", "--is-shallow-repository") == "true"
        hint = "; this clone is shallow: git fetch --unshallow" if is_shallow else ""
        raise InvalidSettings(f"--base {ref}: it has no commit in common with HEAD{hint}")
    return common


def _branches_here(repository: Path, ref: str) -> str:
    """Which branch a name that git does not know may be: one of a remote, a misspelt one, or any that there is."""
    output = git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes") or ""
    branches = output.splitlines()
    same = [branch for branch in branches if branch.partition("/")[2] == ref]
    if same:
        return f"; did you mean '{one_line(same[0], 60)}'?"
    if not branches:
        return "; no branch has a commit yet: commit first"
    is_shallow = git(repository, "rev-parse", "--is-shallow-repository") == "true"
    name = "".join(_BRANCH.findall(ref))
    what = " origin +refs/heads/{0}:refs/remotes/origin/{0}, then --base origin/{0}"
    fetch = phrase("origin/" in output and name, what)
    words = phrase(fetch, " git fetch{}")
    hint = f"this clone is shallow: git fetch --unshallow{fetch}" if is_shallow else f"is it fetched?{words}"
    return f"; {hint} (branches here: {short_list(branches)})"


def _require_one_meaning(repository: Path, ref: str) -> None:
    """Raises InvalidSettings if a tag, a branch and a remote branch of one name are different commits.

    git would take the tag, which anyone with push access can set.
    """
    name = _SUFFIX.split(ref, maxsplit=1)[0]
    if not name or _SHA.fullmatch(name):
        return
    refs = [f"refs/{name}", f"refs/tags/{name}", f"refs/heads/{name}", f"refs/remotes/{name}"]
    output = git(repository, "for-each-ref", "--format=%(refname)", *refs, f"refs/remotes/{name}/HEAD") or ""
    matches = [line for line in output.splitlines() if line in (*refs, f"refs/remotes/{name}/HEAD")]
    if matches and _SHORT_SHA.fullmatch(name):
        matches += (git(repository, "rev-parse", f"--disambiguate={name}") or "").splitlines()
    if len(matches) > 1 and len({commit_of(repository, each) or each for each in matches}) > 1:
        raise InvalidSettings(
            f"--base {ref}: ambiguous: it may be any of {', '.join(matches)}; write one of them in full"
        )


def common_ancestor(repository: Path, commit: str) -> str | None:
    """The last common commit of HEAD and `commit`; None if this checkout has none."""
    return git(repository, "merge-base", "HEAD", commit) or None
