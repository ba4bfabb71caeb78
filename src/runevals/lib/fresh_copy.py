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
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

try:
    import fcntl
except ImportError:  # other systems than POSIX
    fcntl = None  # type: ignore[assignment]

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_FICLONE = 0x40049409  # ioctl: the copy shares the blocks until one of both is written
MOST_FILES = 100_000
# What tools leave behind beside their work; git's own files are none of a program's changes either.
LEFT_BEHIND = frozenset({".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})

Kind = Literal["file", "folder", "link", "other"]


class CannotCopy(Exception):
    """A folder has something in it that is not copied; the message says what and where."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells a file from another one at the same path; `link` is where a link leads."""

    kind: Kind
    size: int
    inode: int
    changed_ns: int  # which only the kernel sets
    mode: int
    link: str = ""


def copy_folder(source: Path, target: Path) -> None:
    """Copies what is in a folder into another one. Raises CannotCopy for a link that leads out of it, OSError."""
    top, into = os.open(source, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)), os.open(target, _FOLDER)
    try:
        _copy(top, into, PurePosixPath(), [0])
    finally:
        os.close(top)
        os.close(into)


def copy_file(source: Path, root: Path, path: str) -> None:
    """Copies one file to a path below `root`; the folders on the way are made. Raises CannotCopy, OSError."""
    file = os.open(source, os.O_RDONLY)
    try:
        with _Place(root, path) as place:
            _copy_content(file, place.folder, place.name, stat.S_IMODE(os.fstat(file).st_mode))
    finally:
        os.close(file)


def write_file(root: Path, path: str, text: str | bytes) -> None:
    """Writes a file at a path below `root`, in place of what is there. Raises CannotCopy, OSError."""
    with _Place(root, path) as place:
        with suppress(FileNotFoundError):
            os.unlink(place.name, dir_fd=place.folder)
        descriptor = os.open(place.name, _NEW, 0o666, dir_fd=place.folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))


def remove_file(root: Path, path: str) -> None:
    """Removes a file or link below `root`, if it is there. Raises CannotCopy, OSError."""
    with suppress(FileNotFoundError), _Place(root, path, make=False) as place:
        os.unlink(place.name, dir_fd=place.folder)


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

    shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):  # a program may have taken away its folders' rights
        for _, folders, _, descriptor in os.fwalk(folder):
            for name in folders:
                with suppress(OSError):
                    if not stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                        os.chmod(name, stat.S_IRWXU, dir_fd=descriptor)
        shutil.rmtree(folder, ignore_errors=True)


def stamps(root: Path) -> dict[str, Stamp]:
    """Path → stamp of every file and link below a folder. Raises OSError, CannotCopy for too many."""
    found: dict[str, Stamp] = {}
    todo = [("", os.open(root, _FOLDER))]
    try:
        while todo:
            at, folder = todo.pop()
            try:
                todo += _stamped(at, folder, found)
            finally:
                os.close(folder)
            if len(found) > MOST_FILES:
                raise CannotCopy(f"it holds more than {MOST_FILES} files")
    finally:
        for _, folder in todo:
            os.close(folder)
    return found


def _stamped(at: str, folder: int, found: dict[str, Stamp]) -> Iterator[tuple[str, int]]:
    """Notes what is in a folder → the folders in it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in LEFT_BEHIND:
                continue
            path = f"{at}{entry.name}"
            told = entry.stat(follow_symlinks=False)
            kind = kind_of(told.st_mode)
            if kind == "folder":
                with suppress(OSError):  # it was removed just now, or may not be read
                    yield f"{path}/", os.open(entry.name, _FOLDER, dir_fd=folder)
                continue
            link = os.readlink(entry.name, dir_fd=folder) if kind == "link" else ""
            mode = told.st_mode & stat.S_IXUSR
            found[path] = Stamp(kind, told.st_size, told.st_ino, told.st_ctime_ns, mode, link)


def kind_of(mode: int) -> Kind:
    """What a mode is of."""
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "link" if stat.S_ISLNK(mode) else "other"


def kind_at(root: Path, path: str) -> Kind | None:
    """What stands at a path below `root`; None if nothing does, or a link is on the way to it."""
    try:
        with _Place(root, path, make=False) as place:
            return kind_of(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode)
    except (OSError, CannotCopy):
        return None


def read_file(root: Path, path: str, most: int) -> bytes | None:
    """The content of a plain file below `root`; None if it is another thing, or larger than `most` bytes."""
    try:
        with _Place(root, path, make=False) as place:
            descriptor = os.open(place.name, _READ, dir_fd=place.folder)
            with os.fdopen(descriptor, "rb") as file:
                told = os.fstat(file.fileno())
                if not stat.S_ISREG(told.st_mode) or told.st_size > most:
                    return None
                content = file.read(most + 1)
                return content if len(content) <= most else None
    except (OSError, CannotCopy):
        return None


def hash_file(root: Path, path: str) -> str | None:
    """sha256 of a plain file below `root`, None if it cannot be read."""
    try:
        with _Place(root, path, make=False) as place:
            descriptor = os.open(place.name, _READ, dir_fd=place.folder)
        with os.fdopen(descriptor, "rb") as file:
            plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return hashlib.file_digest(file, "sha256").hexdigest() if plain else None
    except (OSError, CannotCopy):
        return None


def content_hash(source: Path) -> str:
    """What tells a file, or a folder by all that is in it, from another. Raises CannotCopy, OSError."""
    if source.is_file():
        return hashlib.sha256(source.read_bytes()).hexdigest()
    told = hashlib.sha256()
    for path, stamp in sorted(stamps(source).items()):
        if stamp.kind == "link":
            require_inside(path, stamp.link)
        elif stamp.kind == "other":
            raise CannotCopy(f"{path} is a special file")
        content = hash_file(source, path) if stamp.kind == "file" else stamp.link
        told.update(f"{path}\0{stamp.kind}\0{stamp.mode}\0{content}\n".encode("utf-8", "surrogateescape"))
    return told.hexdigest()


def require_inside(path: str, link: str) -> None:
    """Raises CannotCopy if a link at this path of a folder leads out of the folder."""
    target = os.path.normpath(os.path.join(os.path.dirname(path), link))  # noqa: PTH118, PTH120 - no Path is meant
    if os.path.isabs(link) or target == ".." or target.startswith("../"):  # noqa: PTH117
        raise CannotCopy(f"the link {path} leads out of its folder, to {link}")


class _Place:
    """A path below a folder, opened step by step: its last folder, and the name in it."""

    def __init__(self, root: Path, path: str, *, make: bool = True) -> None:
        """Raises CannotCopy for a path that leads out, and for a link on the way."""
        steps = PurePosixPath(path).parts
        if not steps or ".." in steps or PurePosixPath(path).is_absolute():
            raise CannotCopy(f"{path} is not a path below the workspace")
        self.name = steps[-1]
        self.folder = os.open(root, _FOLDER)
        try:
            for step in steps[:-1]:
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

    def __enter__(self) -> _Place:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.folder)


def _copy(source: int, target: int, at: PurePosixPath, copied: list[int]) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            copied[0] += 1
            if copied[0] > MOST_FILES:
                raise CannotCopy(f"it holds more than {MOST_FILES} files")
            if entry.is_symlink():
                link = os.readlink(entry.name, dir_fd=source)
                require_inside(str(at / entry.name), link)
                os.symlink(link, entry.name, dir_fd=target)
            elif entry.is_dir(follow_symlinks=False):
                _copy_below(source, target, entry.name, at, copied)
            elif entry.is_file(follow_symlinks=False):
                file = os.open(entry.name, _READ, dir_fd=source)
                try:
                    _copy_content(file, target, entry.name, stat.S_IMODE(os.fstat(file).st_mode))
                finally:
                    os.close(file)
            else:
                raise CannotCopy(f"{at / entry.name} is a special file")


def _copy_below(source: int, target: int, name: str, at: PurePosixPath, copied: list[int]) -> None:
    os.mkdir(name, dir_fd=target)
    inner, into = os.open(name, _FOLDER, dir_fd=source), os.open(name, _FOLDER, dir_fd=target)
    try:
        _copy(inner, into, at / name, copied)
    finally:
        os.close(inner)
        os.close(into)


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
            for inner, stamp in stamps(source).items():
                if stamp.kind == "link":
                    require_inside(inner, stamp.link)
                elif stamp.kind == "file":
                    yield f"{path}/{inner}", source / inner
        else:
            yield path, source
