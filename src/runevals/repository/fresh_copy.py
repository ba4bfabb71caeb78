"""Copies of folders for programs to work in: made without following a link, compared afterwards, and removed.

All paths below a copy are opened step by step without following links: a program that works there may put a link
in any place at any time.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import stat
import tarfile
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Literal
from uuid import uuid4

from msgspec import Struct

try:
    import fcntl
except ImportError:  # other systems than POSIX
    fcntl = None  # type: ignore[assignment]

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_LINKED_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_FOLDER = _LINKED_FOLDER | _NO_LINK
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_FICLONE = 0x40049409  # ioctl: the copy shares the blocks until one of both is written
_MOST_LINKS = 40  # one after the other: more than these no kernel follows
MOST_FILES = 100_000  # and folders
MOST_LEVELS = 100
MOST_STEPS = 1_000_000  # to follow all links of a folder
# Caches and other by-products of tools; changes to git's own files do not count either.
LEFT_BEHIND = frozenset({".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})

# What keeps a folder from being read because of what is in it; other errors are those of the machine.
OF_CONTENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG})

Kind = Literal["file", "folder", "link", "other"]


class CannotCopy(Exception):
    """A folder has something that cannot be copied; the message says what and where."""


class Stamp(Struct, frozen=True):
    """The fingerprint of a file at a path; `link` is the target of a link."""

    kind: Kind
    size: int
    inode: int
    changed_ns: int  # which only the kernel sets
    mode: int
    link: str = ""


@contextmanager
def _opened(path: Path | str, flags: int, above: int | None = None) -> Iterator[int]:
    """The descriptor of a file or folder; its path is taken from the folder `above`."""
    descriptor = os.open(path, flags, dir_fd=above)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def copy_folder(source: Path, target: Path, *, without: Container[str] = ()) -> None:
    """Copies a folder's content, `without` some paths. Raises CannotCopy for a link that leads out, OSError."""
    links: dict[str, str] = {}
    with _opened(source, _LINKED_FOLDER) as top:
        for entry in _walk(top, without=without):
            if entry.kind == "link":
                links[entry.path] = os.readlink(entry.name, dir_fd=entry.folder)
            elif entry.kind == "folder":
                make_folder(target, entry.path)
            elif entry.kind == "file":
                with (
                    _plain_file(entry.folder, entry.name, entry.path) as file,
                    _Place(target, entry.path) as place,
                ):
                    _copy_content(file.fileno(), place.folder, place.name, entry.mode)
            else:
                raise CannotCopy(f"{entry.path} is a special file")
    require_inside(links)
    for path, link in links.items():
        with _Place(target, path) as place:
            os.symlink(link, place.name, dir_fd=place.folder)


def copy_file(source: Path, root: Path, path: str) -> None:
    """Copies one file to a path below `root`; the folders on the way are made. Raises CannotCopy, OSError."""
    with _opened(source, os.O_RDONLY) as file, _Place(root, path) as place:
        _copy_content(file, place.folder, place.name, stat.S_IMODE(os.fstat(file).st_mode))


def write_file(root: Path, path: str, text: str | bytes) -> None:
    """Writes a file at a path below `root`, in place of what is there. Raises CannotCopy, OSError."""
    with _Place(root, path) as place:
        with suppress(FileNotFoundError):
            os.unlink(place.name, dir_fd=place.folder)
        descriptor = os.open(place.name, _NEW, 0o666, dir_fd=place.folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))


def make_folder(root: Path, path: str) -> Path:
    """Makes a folder below `root`. Raises CannotCopy, OSError."""
    with _Place(root, f"{path}/x"):
        return root / path


def extract(archive: bytes, target: Path) -> None:
    """Lays out a tar archive in a folder. Raises CannotCopy for what would leave it."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(target, filter="data")
    except tarfile.TarError as error:
        raise CannotCopy(str(error)) from None


def remove_folder(folder: Path) -> None:
    """Removes a folder and all in it, as far as that is possible; no link is followed."""
    with suppress(OSError), _opened(folder.parent, _LINKED_FOLDER) as above:
        _remove(above, folder.name)


def _remove(above: int, name: str) -> None:
    """Removes a path. A folder's folders are moved up into it first: it may be deeper than a path can be."""
    with suppress(FileNotFoundError):
        if not _is_folder(above, name):
            os.unlink(name, dir_fd=above)
            return
        with _opened(name, _FOLDER, above) as top:
            todo = os.listdir(top)  # noqa: PTH208 - no Path is meant
            while todo:
                with suppress(OSError):
                    todo += _flattened(top, todo.pop())
        os.rmdir(name, dir_fd=above)


def _flattened(top: int, name: str) -> list[str]:
    """Removes the content of a folder → the new names of the folders that were in it."""
    if not _is_folder(top, name):
        os.unlink(name, dir_fd=top)
        return []
    moved = []
    with _opened(name, _FOLDER, top) as folder:
        for inner in os.listdir(folder):  # noqa: PTH208
            with suppress(OSError):
                if _is_folder(folder, inner):
                    moved.append(uuid4().hex)
                    os.rename(inner, moved[-1], src_dir_fd=folder, dst_dir_fd=top)
                else:
                    os.unlink(inner, dir_fd=folder)
    with suppress(OSError):
        os.rmdir(name, dir_fd=top)
    return moved


def _is_folder(above: int, name: str) -> bool:
    """Whether it is one; if so, it may be emptied afterwards: a program may have taken away its rights."""
    mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IRWXU, dir_fd=above)
    return stat.S_ISDIR(mode)


def pack(root: Path, paths: Iterable[str], into: IO[bytes]) -> None:
    """Archives some paths below `root`: content, permissions, links. Raises CannotCopy, OSError."""
    chosen = {PurePosixPath(path) for path in paths}
    with tarfile.open(fileobj=into, mode="w") as tar:
        for path in sorted(path for path in chosen if chosen.isdisjoint(path.parents)):
            with suppress(FileNotFoundError), _Place(root, str(path), make=False) as place:
                for entry in _walk(place.folder, only=place.name):
                    _pack(entry, str(path.parent / entry.path), tar)


def _pack(entry: _Entry, path: str, tar: tarfile.TarFile) -> None:
    member = tarfile.TarInfo(path)
    member.mode = entry.mode
    if entry.kind == "file":
        with _plain_file(entry.folder, entry.name, entry.path) as file:
            member.size = os.fstat(file.fileno()).st_size
            tar.addfile(member, file)
        return
    if entry.kind == "other":
        raise CannotCopy(f"{path} is a special file")
    member.type = tarfile.DIRTYPE if entry.kind == "folder" else tarfile.SYMTYPE
    member.linkname = os.readlink(entry.name, dir_fd=entry.folder) if entry.kind == "link" else ""
    tar.addfile(member)


def put_back(packed: IO[bytes], root: Path, paths: Iterable[str]) -> None:
    """Replaces some paths below `root` by their content in the archive of `pack`. Raises CannotCopy, OSError."""
    chosen = [PurePosixPath(path) for path in paths]
    for path in chosen:
        with _Place(root, str(path), clear=True) as place:
            _remove(place.folder, place.name)
    packed.seek(0)
    try:
        with tarfile.open(fileobj=packed, mode="r:") as tar:
            for member in tar:
                if any(PurePosixPath(member.name).is_relative_to(path) for path in chosen):
                    _unpack(tar, member, root)
    except tarfile.TarError as error:
        raise CannotCopy(str(error)) from None


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, root: Path) -> None:
    if member.isdir():
        make_folder(root, member.name)
    elif member.issym():
        with _Place(root, member.name) as place:
            os.symlink(member.linkname, place.name, dir_fd=place.folder)
    elif (content := tar.extractfile(member)) is not None:
        with _Place(root, member.name) as place:
            descriptor = os.open(place.name, _NEW, member.mode | stat.S_IRUSR | stat.S_IWUSR, dir_fd=place.folder)
            with os.fdopen(descriptor, "wb") as file:
                shutil.copyfileobj(content, file)


def remove_everywhere(root: Path, name: str) -> None:
    """Removes everything of this name below a folder. Raises CannotCopy, OSError."""
    with _opened(root, _FOLDER) as top:
        for entry in _walk(top, skip=LEFT_BEHIND - {name}):
            if entry.name == name:
                _remove(entry.folder, entry.name)


class _Entry(Struct, frozen=True):
    """What a folder holds at one path, with the open folder that it is in."""

    path: str
    name: str
    folder: int
    stat: os.stat_result

    @property
    def kind(self) -> Kind:
        return kind_of(self.stat.st_mode)

    @property
    def mode(self) -> int:
        return stat.S_IMODE(self.stat.st_mode)


def _plain_file(folder: int, name: str, path: str) -> io.BufferedReader:
    """The file in an open folder; `path` is for messages. Raises OSError, CannotCopy if it is another thing."""
    file = os.fdopen(os.open(name, _READ, dir_fd=folder), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise CannotCopy(f"{path} is a special file")
    return file


def _walk(
    top: int, *, skip: Container[str] = (), without: Container[str] = (), only: str | None = None
) -> Iterator[_Entry]:
    """All below an open folder, each folder before what is in it; one folder for each level is open at a time.

    `skip`: names of folders that are left out; `without`: paths. `only`: the one name in `top` that is
    meant. Raises CannotCopy for too many files and folders, for too many levels, and for what cannot be looked
    at.
    """
    names = _names(top, MOST_FILES) if only is None else [only]
    count, levels = len(names), [("", os.dup(top), names)]
    try:
        while levels:
            at, folder, names = levels[-1]
            if not names:
                os.close(levels.pop()[1])
                continue
            name = names.pop()
            path = f"{at}{name}"
            try:
                entry = _Entry(path, name, folder, os.stat(name, dir_fd=folder, follow_symlinks=False))
                if path in without or (entry.kind == "folder" and name in skip):
                    continue
                yield entry
                if entry.kind != "folder":
                    continue
                if len(levels) > MOST_LEVELS:
                    raise CannotCopy(f"it holds folders more than {MOST_LEVELS} levels deep")
                levels.append((f"{path}/", os.open(name, _FOLDER, dir_fd=folder), []))
                levels[-1][2].extend(_names(levels[-1][1], MOST_FILES - count))
                count += len(levels[-1][2])
            except FileNotFoundError:  # it was removed just now
                continue
            except OSError as error:
                if error.errno not in OF_CONTENT:
                    raise
                raise CannotCopy(f"{path[-200:]} cannot be looked at: {error.strerror}") from None
    finally:
        for _, folder, _ in levels:
            os.close(folder)


def _names(folder: int, most: int) -> list[str]:
    with os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, most + 1)]
    if len(names) > most:
        raise CannotCopy(f"it holds more than {MOST_FILES} files and folders")
    return names


def stamps(root: Path, *, without: Container[str] = ()) -> dict[str, Stamp]:
    """Path → stamp of every file and link below a folder, `without` some. Raises OSError, CannotCopy."""
    by_path: dict[str, Stamp] = {}
    with _opened(root, _FOLDER) as top:
        for entry in _walk(top, skip=LEFT_BEHIND, without=without):
            if entry.kind != "folder":
                link = os.readlink(entry.name, dir_fd=entry.folder) if entry.kind == "link" else ""
                at, mode = entry.stat, entry.mode & stat.S_IXUSR
                by_path[entry.path] = Stamp(entry.kind, at.st_size, at.st_ino, at.st_ctime_ns, mode, link)
    return by_path


def kind_of(mode: int) -> Kind:
    """What a mode is of."""
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "link" if stat.S_ISLNK(mode) else "other"


def kind_at(root: Path, path: str) -> Kind | None:
    """The content of a path below `root`; None if there is none, or a link is on the way to it."""
    with suppress(OSError, CannotCopy), _Place(root, path, make=False) as place:
        return kind_of(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode)
    return None


def read_file(root: Path, path: str, most: int) -> bytes | None:
    """The content of a plain file below `root`; None if it is another thing, or larger than `most` bytes."""
    with suppress(OSError, CannotCopy), _file_at(root, path) as file:
        content = file.read(most + 1)
        return content if len(content) <= most else None
    return None


def hash_file(root: Path, path: str) -> str | None:
    """sha256 of a plain file below `root`, None if it cannot be read."""
    with suppress(OSError, CannotCopy), _file_at(root, path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return None


def _file_at(root: Path, path: str) -> io.BufferedReader:
    with _Place(root, path, make=False) as place:
        return _plain_file(place.folder, place.name, path)


def content_hash(source: Path, *, without: Container[str] = ()) -> str:
    """What tells a file, or a folder `without` some paths, from another. Raises CannotCopy, OSError."""
    if source.is_file():
        return hashlib.sha256(source.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    by_path = stamps(source, without=without)
    require_inside({path: stamp.link for path, stamp in by_path.items() if stamp.kind == "link"})
    for path, stamp in sorted(by_path.items()):
        if stamp.kind == "other":
            raise CannotCopy(f"{path} is a special file")
        content = hash_file(source, path) if stamp.kind == "file" else stamp.link
        digest.update(f"{path}\0{stamp.kind}\0{stamp.mode}\0{content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def require_inside(links: Mapping[str, str]) -> None:
    """Raises CannotCopy if one of the links of a folder (path → where it leads) leads out, also through others."""
    steps = 0
    for path, link in links.items():
        for inside in _followed(path, links):
            steps += 1
            if not inside:
                raise CannotCopy(f"the link {path} leads out of its folder, to {link}")
            if steps > MOST_STEPS:
                raise CannotCopy(f"its links take more than {MOST_STEPS} steps to follow")


def _followed(path: str, links: Mapping[str, str]) -> Iterator[bool]:
    """Whether each step of a link, and of the links on its way, stays in their folder."""
    at: list[str] = []
    todo = [*reversed(PurePosixPath(path).parts)]
    followed = 0
    while todo and followed <= _MOST_LINKS:
        step = todo.pop()
        link = links.get("/".join([*at, step]))
        if step == "..":
            yield bool(at)
            at.pop()
        elif link is None:
            yield True
            at.append(step)
        else:
            yield not PurePosixPath(link).is_absolute()
            followed += 1
            todo += reversed(PurePosixPath(link).parts)


class _Place(AbstractContextManager["_Place"]):
    """A path below a folder, opened step by step: its last folder, and the name in it."""

    def __init__(self, root: Path, path: str, *, make: bool = True, clear: bool = False) -> None:
        """Raises CannotCopy for a path that leads out, and for a link on the way, which `clear` removes."""
        steps = PurePosixPath(path).parts
        if not steps or ".." in steps or PurePosixPath(path).is_absolute():
            raise CannotCopy(f"{path} is not a path below the workspace")
        self.name = steps[-1]
        self.folder = os.open(root, _FOLDER)
        try:
            for step in steps[:-1]:
                if clear:  # of what is not a folder; a folder is made usable
                    with suppress(FileNotFoundError):
                        if not _is_folder(self.folder, step):
                            os.unlink(step, dir_fd=self.folder)
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(step, dir_fd=self.folder)
                inner = os.open(step, _FOLDER, dir_fd=self.folder)
                os.close(self.folder)
                self.folder = inner
        except OSError as error:
            os.close(self.folder)
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise CannotCopy(f"{path} lies behind a link or a file") from None
            raise

    def __exit__(self, *_: object) -> None:
        os.close(self.folder)


def _copy_content(file: int, folder: int, name: str, mode: int) -> None:
    """A copy that shares blocks if the file system can do that; never one that shares the file."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    copy = os.open(name, _NEW, mode | stat.S_IWUSR | stat.S_IRUSR, dir_fd=folder)
    try:
        if not _cloned(file, copy):
            size = os.fstat(file).st_size
            while size > 0 and (sent := os.sendfile(copy, file, None, size)):
                size -= sent
    finally:
        os.close(copy)


_cannot_clone: set[tuple[int, int]] = set()  # pairs of file systems


def _cloned(file: int, copy: int) -> bool:
    between = (os.fstat(file).st_dev, os.fstat(copy).st_dev)
    if fcntl is None or between in _cannot_clone:
        return False
    try:
        fcntl.ioctl(copy, _FICLONE, file)
    except OSError:
        _cannot_clone.add(between)
        return False
    return True


def files_below(mapping: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """(path in the copy, file) of every file and of all files in every folder that is to be put there."""
    for path, source in mapping.items():
        if source.is_dir():
            by_path = stamps(source)
            require_inside({inner: stamp.link for inner, stamp in by_path.items() if stamp.kind == "link"})
            for inner, stamp in by_path.items():
                if stamp.kind == "file":
                    yield f"{path}/{inner}", source / inner
        else:
            yield path, source
