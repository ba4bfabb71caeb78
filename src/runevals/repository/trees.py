"""The files of a work tree and of a commit, with links followed.

Paths are relative to the repository's root, with `/` between their steps; the root itself is "".
"""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from errno import EINVAL, ENAMETOOLONG, ENOENT, ENOTDIR
from fnmatch import translate
from functools import cached_property
from hashlib import sha1, sha256
from io import BytesIO
from pathlib import Path
from typing import Literal, Protocol

from runevals.repository.fresh_copy import kind_of
from runevals.repository.git import LINK, SUBMODULE, git_output, names, next_object

Kind = Literal["file", "folder", "link", "repository", "other"]
MOST_LINKS = 40  # in one path, like the kernel
MOST_PLACES = 200_000  # of one pattern or folder by default
PIECE = 1024 * 1024  # bytes that are read at once
_ABSENT = frozenset({ENOENT, ENOTDIR, ENAMETOOLONG, EINVAL})
_MAGIC = re.compile(r"[*?\[]")
# Files of runs; they are read only if they are tracked.
_RUN_FOLDERS = frozenset({"__pycache__", ".evals"})


class CannotFollow(Exception):
    """The target of a path cannot be determined; the message says why."""


class Tree(Protocol):
    """Access to a tree of files."""

    def kind(self, path: str) -> Kind | None:
        """The kind of a path; None if it is absent. Links are not followed."""

    def names(self, folder: str) -> Iterable[str]:
        """The names in a folder."""

    def resolve_links(self, path: str) -> str | None:
        """The path without links; None if nothing is there. Raises CannotFollow."""

    def in_circle(self, link: str) -> None:
        """Called for a link to one of its own parent folders, which is not entered. May raise CannotFollow."""


class _Linked(Tree, Protocol):
    """A tree whose links are resolved here, never out of the repository."""

    def link(self, path: str) -> str:
        """Where a link leads to."""
        raise NotImplementedError

    def resolve_links(self, path: str) -> str | None:
        steps, at, links = path.split("/")[::-1], "", 0
        while steps:
            step = steps.pop()
            if step == ".." and not at:
                raise CannotFollow(f"{path} leads out of the repository")
            here = at.rpartition("/")[0] if step == ".." else at if step in ("", ".") else joined(at, step)
            kind = "folder" if step in ("", ".", "..") else self.kind(here)
            if kind == "link":
                links += 1
                steps += self._steps_of(here, path, links)
            elif kind in ("repository", "other"):
                raise CannotFollow(f"{here} is a {'submodule' if kind == 'repository' else 'special file'}")
            elif kind is None or (kind == "file" and steps):
                return None
            else:
                at = here
        return at

    def _steps_of(self, link: str, path: str, links: int) -> list[str]:
        if links > MOST_LINKS:
            raise CannotFollow(f"{path} leads round in a circle of links")
        target = self.link(link)
        if Path(target).is_absolute():
            raise CannotFollow(f"the link {link} leads out of the repository")
        return target.split("/")[::-1]

    def in_circle(self, link: str) -> None:
        raise CannotFollow(f"the link {link} leads to its own parent folder")


def object_name(size: int, pieces: Iterable[bytes], *, like: str) -> str:
    """How git names this content: by one algorithm or the other, which the length of another name tells."""
    digest = (sha1 if len(like) == 40 else sha256)(b"blob %d\0" % size)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def joined(folder: str, name: str) -> str:
    """The path of a name in a folder."""
    return f"{folder}/{name}" if folder else name


def matching(
    tree: Tree, pattern: str, *, hidden: bool = True, most: int = MOST_PLACES
) -> Iterator[tuple[str, str]]:
    """(path, the same without links) of what `*`, `?`, `[…]` and `**` match, once each. Raises CannotFollow.

    Without `hidden`, no names that begin with a dot. However often `**` is there, no place is looked at twice.
    """
    texts = [text for text in pattern.split("/") if text not in ("", ".")]
    pairs = zip(texts, ["", *texts], strict=False)  # `**/**` is `**`
    steps = [_Step(text, hidden=hidden) for text, before in pairs if not text == before == "**"]
    queue, visited = [("", tree.resolve_links("") or "", 0)], set[tuple[str, int]]()
    while queue:
        at, real, index = queue.pop()
        if (at, index) in visited:
            continue
        visited.add((at, index))
        if len(visited) > most:
            raise CannotFollow(f"the pattern {pattern[:80]} leads to more than {most} places")
        if index == len(steps):
            yield at, real
        else:
            queue += ((path, led, next_) for path, led, next_ in _next(tree, at, real, steps[index], index))


class _Step:
    """One step of a pattern."""

    def __init__(self, text: str, *, hidden: bool) -> None:
        self.text = text
        self.is_deep = text == "**"
        self.is_magic = _MAGIC.search(text) is not None
        self._hidden = hidden or text.startswith(".")
        self._fits = re.compile(translate(text)).match

    def fits(self, name: str) -> bool:
        return (self._hidden or not name.startswith(".")) and self._fits(name) is not None


def _next(tree: Tree, at: str, real: str, step: _Step, index: int) -> Iterator[tuple[str, str, int]]:
    if not step.is_magic:
        here = joined(at, step.text)
        if (led := _led(tree, real, step.text)) is not None:
            yield here, led, index + 1
        return
    if step.is_deep:
        yield at, real, index + 1
    if real and tree.kind(real) != "folder":
        return
    for name in tree.names(real):
        here = joined(at, name)
        if not step.fits(name) or (led := _led(tree, real, name)) is None:
            continue
        leads_up = not led or f"{real}/".startswith(f"{led}/")
        if step.is_deep and leads_up:
            tree.in_circle(here)
        else:
            yield here, led, index if step.is_deep else index + 1


def _led(tree: Tree, real: str, name: str) -> str | None:
    """Where a path leads to whose folder, without links, is `real`."""
    path = joined(real, name)
    kind = None if name == ".." else tree.kind(path)
    return path if kind in ("file", "folder") else tree.resolve_links(path)


def files_below(tree: Tree, path: str) -> Iterator[tuple[str, str]]:
    """(path, the same without links) of this file, or of all in this folder. Raises CannotFollow."""
    if tree.resolve_links(path) is not None:
        for path_, real in matching(tree, f"{glob.escape(path)}/**"):
            if real and tree.kind(real) == "file":
                yield path_, real


class FolderTree:
    """All files below a folder, through links."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def kind(self, path: str) -> Kind | None:
        with suppress(OSError, ValueError):
            return kind_of(os.lstat(self._root / path).st_mode)
        return None

    def names(self, folder: str) -> Iterable[str]:
        try:
            return [entry.name for entry in os.scandir(self._root / folder)]
        except OSError:
            return ()

    def resolve_links(self, path: str) -> str | None:
        full = os.path.realpath(self._root / path)
        return full if os.path.exists(full) else None  # noqa: PTH110 - it is no Path

    def in_circle(self, link: str) -> None:
        """Ignored: the files are found without that link."""


class WorkTree(_Linked):
    """The files below a folder on disk."""

    def __init__(self, root: Path, *, like: str) -> None:
        """`like` is the name of a commit: by its length, git's names are of one kind or the other."""
        self._root = root
        self._like = like
        self._kinds: dict[str, Kind | None] = {}

    def kind(self, path: str) -> Kind | None:
        if path not in self._kinds:
            self._kinds[path] = self._kind(path)
        return self._kinds[path]

    def _kind(self, path: str) -> Kind | None:
        full = f"{self._root}/{path}"
        try:
            mode = os.lstat(full).st_mode
        except ValueError:  # a character that no path has
            return None
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise CannotFollow(f"{path} cannot be read: {error.strerror}") from None
        if path.rpartition("/")[2].lower() == ".git":
            return "other"
        kind = kind_of(mode)
        return "repository" if kind == "folder" and os.path.lexists(f"{full}/.git") else kind

    def link(self, path: str) -> str:
        return Path(f"{self._root}/{path}").readlink().as_posix()

    def names(self, folder: str) -> list[str]:
        try:
            entries = [entry.name for entry in os.scandir(f"{self._root}/{folder}")]
        except OSError as error:
            raise CannotFollow(f"{folder} cannot be listed: {error.strerror}") from None
        return [name for name in entries if self._counts(folder, name)]

    def _counts(self, folder: str, name: str) -> bool:
        if name == ".git":
            return bool(folder)
        return name not in _RUN_FOLDERS or joined(folder, name) in self._committed_of_runs

    @cached_property
    def _committed_of_runs(self) -> frozenset[str]:
        """The folders of runs with tracked files."""
        patterns = [f":(top,glob)**/{name}/**" for name in sorted(_RUN_FOLDERS)]
        files = names(self._root, "ls-files", "-z", "--", *patterns)
        if files is None:
            raise CannotFollow("git does not list its files")
        folders = (
            steps[: index + 1] for steps in (file.split("/") for file in files) for index in range(len(steps))
        )
        return frozenset("/".join(folder) for folder in folders if folder[-1] in _RUN_FOLDERS)

    def content(self, path: str) -> str:
        try:
            with open(f"{self._root}/{path}", "rb") as file:  # noqa: PTH123 - thousands of them
                info = os.fstat(file.fileno())
                name = object_name(info.st_size, iter(lambda: file.read(PIECE), b""), like=self._like)
        except OSError as error:
            raise CannotFollow(f"{path} cannot be read: {error.strerror}") from None
        return f"{name} {bool(info.st_mode & stat.S_IXUSR)}"


class CommitTree(_Linked):
    """The files of a commit."""

    def __init__(self, repository: Path, commit: str) -> None:
        """Raises CannotFollow if the commit is not complete."""
        self._repository, self._commit = repository, commit
        entries = names(repository, "ls-tree", "-r", "-z", "--full-tree", commit)
        if entries is None:
            raise CannotFollow(f"git has not got the files of {commit[:7]}")
        self._entries: dict[str, tuple[str, str]] = {}  # path → mode and name
        self._folders: dict[str, set[str]] = {"": set()}
        for line in entries:
            fields, _, path = line.partition("\t")
            mode, _, name = fields.split(" ")
            self._entries[path] = mode, name
            self._add(path)

    def _add(self, path: str) -> None:
        """Adds a path to its folder, and the folder to its parent."""
        while path:
            folder, _, name = path.rpartition("/")
            is_known = folder in self._folders
            self._folders.setdefault(folder, set()).add(name)
            if is_known:
                return
            path = folder

    def kind(self, path: str) -> Kind | None:
        entry = self._entries.get(path)
        if entry is None:
            return "folder" if path in self._folders else None
        return "link" if entry[0] == LINK else "repository" if entry[0] == SUBMODULE else "file"

    def link(self, path: str) -> str:
        target = self._links.get(self._entries[path][1])
        if target is None:
            raise CannotFollow(f"git has not got the link {path} of {self._commit[:7]}")
        return target

    @cached_property
    def _links(self) -> dict[str, str]:
        """The object name of each link → its target."""
        objects = sorted({name for mode, name in self._entries.values() if mode == LINK})
        output = git_output(self._repository, ("cat-file", "--batch"), stdin="\n".join([*objects, ""]).encode())
        stream = BytesIO(output or b"")
        answers = [next_object(stream) for _ in objects] if output else []
        return {name.decode(): os.fsdecode(target) for _, name, target in filter(None, answers)}

    def names(self, folder: str) -> Iterable[str]:
        return self._folders.get(folder, ())

    def content(self, path: str) -> str:
        mode, name = self._entries[path]
        return f"{name} {mode == '100755'}"
