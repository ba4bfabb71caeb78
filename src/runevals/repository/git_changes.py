"""Which files differ from a commit."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath

from msgspec import Struct

from runevals.repository import trees
from runevals.repository.git import FILE, LINK, SUBMODULE, commit_of, files_in, files_of, git_output, names

State = dict[str, object]
Pair = tuple[str | None, str | None]  # the path of a file in a commit, and in the work tree
_STAGED = ("diff-index", "--cached", "-z", "--no-renames", "--ignore-submodules=none")


class PathsRead(Struct, frozen=True, kw_only=True):
    """The paths that a run reads: files, folders with their content, and patterns, relative to the root.

    Of `links` only the target counts, not its content.
    """

    paths: frozenset[str]
    patterns: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()

    def joined(self, other: PathsRead) -> PathsRead:
        """What either reads."""
        return PathsRead(
            paths=self.paths | other.paths, patterns=self.patterns | other.patterns, links=self.links | other.links
        )


class Changes:
    """The differences of a work tree from a commit. Raises CannotFollow."""

    def __init__(self, repository: Path, commit: str) -> None:
        self._old, self._new = trees.CommitTree(repository, commit), trees.WorkTree(repository, like=commit)
        self.among = cache(self._among)  # the cases of a suite name the same files

    def _among(self, read: PathsRead) -> list[str]:
        """The paths of `read` whose content differs from the commit. Raises CannotFollow.

        Links are followed in the work tree and in the commit, and the bytes are compared: neither attributes nor
        the index are used.
        """
        old_files, new_files = _files_read(self._old, read), _files_read(self._new, read)
        paths = old_files.keys() | new_files.keys()
        differing = {path for path in paths if old_files.get(path) != new_files.get(path)}
        if not differing:  # the same files; otherwise no content need be read
            files = {path: real for path, real in new_files.items() if not path.endswith("/")}
            changed = {real for real in set(files.values()) if self._old.content(real) != self._new.content(real)}
            differing = {path for path, real in files.items() if real in changed}
        return sorted(differing)


def _files_read(tree: trees.Tree, read: PathsRead) -> dict[str, str]:
    """Maps each file and link that is read (a link ends in `/`) to its path without links."""
    links = {f"{link}/": real for link in read.links if (real := tree.resolve_links(link)) is not None}
    files = dict(file for path in read.paths for file in trees.files_below(tree, path))
    for path, real in {file for pattern in read.patterns for file in trees.matching(tree, pattern)}:
        if tree.kind(real) == "file":
            files[path] = real
        else:
            files |= dict(trees.files_below(tree, path))
    return {**links, **files, **{path: path for path in _attributes(tree, files.values())}}


def _attributes(tree: trees.Tree, files: Iterable[str]) -> Iterator[str]:
    """The attribute files that determine which bytes git writes for these files."""
    for folder in {str(above) for file in files for above in PurePosixPath(file).parents}:
        path = ".gitattributes" if folder == "." else f"{folder}/.gitattributes"
        if (kind := tree.kind(path)) is not None:
            if kind != "file":
                raise trees.CannotFollow(f"{path} is not a regular file")
            yield path


def changed_files(repository: Path, commit: str) -> list[Pair] | None:
    """(path in `commit`, path in the work tree) of each regular file that may differ; None: it is not there.

    Both differ if it was renamed: as git sees it, or with its folder. A file that git does not know, nor ignores,
    is new. None if git does not answer.
    """
    words = ("diff-index", "-z", "--find-renames", "--ignore-submodules=all", "--no-ext-diff", commit, "--")
    output = git_output(repository, words, settings=_without_filters(repository))
    others = names(repository, "ls-files", "-z", "--others", "--exclude-standard")
    if output is None or others is None:
        return None
    pairs: list[Pair] = [(None, name) for name in others if _is_regular(repository, name)]
    words_ = iter(os.fsdecode(output).split("\0"))
    for entry in words_:
        if not entry:
            continue
        old_mode, mode, *_, status = entry.removeprefix(":").split(" ")
        old = next(words_)
        new = next(words_) if status[0] in "RC" else old
        was = old if old_mode.startswith(FILE) and status[0] not in "AC" else None
        now = new if mode.startswith(FILE) and status[0] != "D" and _is_regular(repository, new) else None
        if (was, now) != (None, None) and status[0] != "T":
            pairs.append((was, now))
    return _with_moved_folders(pairs, repository)


def _with_moved_folders(pairs: list[Pair], repository: Path) -> list[Pair]:
    """The pairs; the files of a folder that is gone keep their names where git saw most of them move."""
    renamed, away = _renames(pairs), {was for was, now in pairs if was not in (now, None)}
    files = {*(files_of(repository) or ())} - away if renamed else ()
    here = {folder for name in files for folder in PurePosixPath(name).parents}
    gone = {now: [each for each in _moved_with(was, now) if each[0] not in here] for now, was in renamed.items()}
    moves = {now: folders[-1] for now, folders in gone.items() if folders}
    to = {was: now for (was, now), _ in reversed(Counter(moves.values()).most_common())}
    sure = {renamed[now] for now, (old, new) in moves.items() if to[old] == new}
    former, lost = {now: was for was, now in to.items()}, away - sure
    added = (PurePosixPath(now) for was, now in pairs if now not in (was, None) and was not in sure)
    places = ((str(path), former.get(one, "/"), path.relative_to(one)) for path in added for one in path.parents)
    moved = {name: place for name, was, rest in places if (place := str(PurePosixPath(was, rest))) in lost}
    taken = {*moved.values()}
    after = {now: moved.get(now, None if was in taken else was) for was, now in pairs if now}
    return [*zip(after.values(), after, strict=True), *((was, None) for was in sorted(away - {*after.values()}))]


def _moved_with(was: str, now: str) -> Iterator[tuple[PurePosixPath, PurePosixPath]]:
    """A renamed file's folder, and those above up to one with another name: before, and now."""
    old, new = PurePosixPath(was), PurePosixPath(now)
    yield old.parent, new.parent
    while old.parent.name == new.parent.name != "":
        old, new = old.parent, new.parent
        yield old.parent, new.parent


def _renames(pairs: Iterable[Pair]) -> dict[str, str]:
    return {now: was for was, now in pairs if was and now not in (was, None)}


def renamed_files(repository: Path, commit: str) -> dict[str, str]:
    """By path in the work tree, that in `commit` of each file that had another there."""
    return _renames(changed_files(repository, commit) or ())


def former_names(repository: Path, commit: str, folder: str) -> Mapping[str, str]:
    """As `renamed_files`; empty if the commit has the folder already."""
    return renamed_files(repository, commit) if is_new(repository, commit, folder) else {}


@cache
def is_new(repository: Path, commit: str, folder: str) -> bool:
    """Whether the commit has nothing in the folder."""
    return folder != "." and not files_in(repository, commit, folder)


def _is_regular(repository: Path, name: str) -> bool:
    """Whether it is a file, and no link of the repository leads to it."""
    above = [repository / folder for folder in PurePosixPath(name).parents if str(folder) != "."]
    with suppress(OSError):
        return stat.S_ISREG((repository / name).lstat().st_mode) and not any(map(Path.is_symlink, above))
    return False


def state_of(repository: Path) -> State | None:
    """The state of the tracked files: the commit, the differences from it, and the submodules.

    Files with unchanged times and sizes in git's index are not read. None if git does not answer.
    """
    commit = commit_of(repository, "HEAD")
    words = ("ls-files", "-z", "--stage") if commit is None else (*_STAGED, "--raw", commit, "--")
    staged, candidates, index = git_output(repository, words), _possibly_changed(repository), _index(repository)
    if staged is None or candidates is None or index is None:
        return None
    suspects = [entry for entry in index if entry.name in candidates or entry.unlooked]
    contents = {
        entry.name: _content_hash(repository / entry.name) for entry in suspects if entry.is_changed(repository)
    }
    inner = [
        entry.name for entry in index if entry.mode == SUBMODULE and (repository / entry.name / ".git").exists()
    ]
    submodules = {name: state_of(repository / name) for name in inner}
    if None in submodules.values():
        return None
    own = {"commit": commit, "staged": sha256(staged).hexdigest(), "changed": contents}
    return {**own, "submodules": submodules}


def _content_hash(path: Path) -> str | None:
    """Kind and content hash of a path in the work tree; None if it is absent."""
    with suppress(OSError):
        mode = path.lstat().st_mode
        content = os.fsencode(path.readlink()) if stat.S_ISLNK(mode) else path.read_bytes()
        return f"{mode:o} {sha256(content).hexdigest()}"
    return None


def _possibly_changed(repository: Path) -> set[str] | None:
    """The files that may have changed since git last checked. Filters are off: attributes could start one."""
    words = ("diff-files", "--name-only", "-z", "--ignore-submodules=all", "--no-ext-diff", "--no-textconv")
    output = git_output(repository, words, settings=_without_filters(repository))
    return None if output is None else set(os.fsdecode(output).split("\0"))


def _without_filters(repository: Path) -> dict[str, str]:
    """Settings that disable every configured filter."""
    keys = names(repository, "config", "--name-only", "-z", "--get-regexp", r"^filter\.") or []
    filters = {key.rpartition(".")[0] for key in keys}
    off = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"{name}.{key}": value for name in filters for key, value in off.items()}


class _Entry(Struct, frozen=True):
    """A file in the index: its mode, its object name, and its flags.

    `sparse`: it may be missing. `unlooked`: git does not check whether it has changed.
    """

    name: str
    mode: str
    content: str
    sparse: bool
    unlooked: bool

    def is_changed(self, repository: Path) -> bool:
        """Whether the work tree has other bytes, another kind of file, or no file there."""
        path = repository / self.name
        try:
            info = path.lstat()
            if self.mode == LINK:
                target = os.fsencode(path.readlink()) if stat.S_ISLNK(info.st_mode) else b""
                name = trees.object_name(len(target), [target], like=self.content)
                return not stat.S_ISLNK(info.st_mode) or name != self.content
            if self.mode.startswith(FILE):
                executable = bool(info.st_mode & stat.S_IXUSR) == (self.mode == "100755")
                return not (stat.S_ISREG(info.st_mode) and executable and self._holds(path, info.st_size))
        except OSError:
            return not self.sparse
        return True  # a submodule: its content is only known to its own repository

    def _holds(self, path: Path, size: int) -> bool:
        with path.open("rb") as file:
            return (
                trees.object_name(size, iter(lambda: file.read(trees.PIECE), b""), like=self.content)
                == self.content
            )


def _index(repository: Path) -> list[_Entry] | None:
    lines = names(repository, "ls-files", "-z", "--stage", "-v")
    if lines is None:
        return None
    entries = []
    for line in lines:
        fields, _, name = line.partition("\t")
        tag, mode, content, _ = fields.split(" ")
        sparse = tag in "Ss"
        entries.append(
            _Entry(name=name, mode=mode, content=content, sparse=sparse, unlooked=sparse or tag.islower())
        )
    return entries
