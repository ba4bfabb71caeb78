"""Creates, writes and removes files of runevals without following links.

A checkout may be untrusted, and a link in it may lead anywhere. Below the repository's root, each component of a
path is opened relative to the folder before it, and links are refused, including links that are created during
the run. No commit can change paths outside the repository: these come from the user.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runevals.records.errors import CannotWrite, InvalidSettings

STANDARD_STREAM = Path("-")  # what is written to standard output or read from standard input
IGNORE = ".gitignore"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_UNFINISHED = re.compile(r"^\.(.+)\.[0-9a-f]{8}\.new\Z")  # the name of an unfinished file


def relative_name(path: Path, folder: Path) -> str:
    """The path as seen from the folder, with forward slashes; unchanged if it lies elsewhere."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def path_from(path: Path, folder: Path) -> str:
    """The path as seen from the folder, with forward slashes, and `..` to what lies elsewhere."""
    return Path(os.path.relpath(path, folder)).as_posix()


class ForeignFile(OSError):
    """There is a file at the path of an output that runevals did not create."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(0, f"{relative_name(path, Path.cwd())} {what}")

    def __str__(self) -> str:
        return str(self.strerror)


def require_no_link(*paths: Path) -> None:
    """Raises InvalidSettings if one of these files, which need not be there, is a link or lies behind one.

    Outside the repository, only the file itself must be none.
    """
    for path in paths:
        with _usage_errors():
            refuse_links(path.parent, [path.name])


@contextmanager
def _usage_errors() -> Iterator[None]:
    """Raises InvalidSettings for a foreign file; what is absent or inaccessible, its writer will report."""
    try:
        yield
    except ForeignFile as error:
        raise InvalidSettings(str(error)) from None
    except OSError:
        return


def refuse_links(path: Path, names: Iterable[str]) -> None:
    """Raises ForeignFile if one of these files is a link, OSError if the folder cannot be opened."""
    with open_folder(path) as inside:
        for name in names:
            _refuse_link(path / name, inside)


def require_only(path: Path, names: Collection[str]) -> None:
    """Raises InvalidSettings if the folder holds anything but plain files of these names; it need not be there.

    Unfinished files of these names are allowed.
    """
    with _usage_errors(), open_folder(path) as inside:
        for name in _names(inside):
            if _UNFINISHED.sub(r"\1", name) not in names or not _is_file(name, inside):
                raise ForeignFile(path / name, "was not created by runevals; remove it, or name another folder")


@contextmanager
def open_folder(path: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder at this path. With `make`, missing folders are created.

    Raises ForeignFile for a link in the path, OSError for other failures.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - lexically: `..` must not lead back out of a link
    root = _unchecked(absolute)
    if make and root == absolute:
        root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root, _FOLDER)
    try:
        at = root
        for name in absolute.relative_to(root).parts:
            at /= name
            inner = _below(descriptor, name, at, make=make)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _below(folder: int, name: str, at: Path, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    try:
        return os.open(name, _FOLDER | _NO_LINK, dir_fd=folder)
    except OSError as error:
        _refuse_link(at, folder)
        raise type(error)(error.errno, error.strerror, str(at)) from None


def _unchecked(path: Path) -> Path:
    """The beginning of a path that may contain links: up to the current repository, otherwise all of it."""
    here = Path.cwd()
    # The outermost, if nested: links may come from outside of a submodule.
    repository = next((one for one in reversed((here, *here.parents)) if os.path.lexists(one / ".git")), here)
    if path.is_relative_to(repository):
        return repository
    for above in reversed((path, *path.parents)):
        if Path(os.path.realpath(above)).is_relative_to(repository):
            return above
    return path


def _refuse_link(path: Path, folder: int) -> None:
    with suppress(FileNotFoundError):
        if stat.S_ISLNK(os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise ForeignFile(path, "is a link, which is not followed; name another path")


def is_plain(path: Path) -> bool:
    """Whether it is a regular file without a link in its path."""
    with suppress(OSError), open_folder(path.parent) as folder:
        return _is_file(path.name, folder)
    return False


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)


def _is_file(name: str, folder: int) -> bool:
    with suppress(OSError):
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return False


def behind_links(path: Path) -> Path:
    """The file to write for a path: a link stays a link, and its target is written.

    Raises InvalidSettings if that lies outside the repository that the link is in.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - see `open_folder`
    root, target = _unchecked(absolute), absolute.resolve()
    if root != absolute and not target.is_relative_to(root.resolve()):
        raise InvalidSettings(f"{path} leads to {target}, outside the repository; name that file itself")
    return target


def write_whole(path: Path, text: str | Iterable[str | bytes]) -> None:
    """Writes a text, or its pieces, through a temporary file, so no reader sees half of it. Raises CannotWrite.

    Lone surrogates are written as escapes.
    """
    try:
        with open_folder(path.parent, make=True) as folder:
            _refuse_link(path, folder)
            _write(path.name, text, folder)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error


def _write(name: str, text: str | Iterable[str | bytes], folder: int) -> None:
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode if _is_file(name, folder) else 0o644
    unfinished = f".{name}.{secrets.token_hex(4)}.new"
    descriptor = os.open(unfinished, _NEW, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in (text,) if isinstance(text, str) else text:
                file.write(piece if isinstance(piece, bytes) else piece.encode("utf-8", errors="backslashreplace"))
            os.fchmod(file.fileno(), stat.S_IMODE(mode) & 0o777)
        os.replace(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
        raise


def created(path: Path) -> bool:
    """Creates an empty file; False if it exists. Raises OSError."""
    with suppress(FileExistsError), open_folder(path.parent, make=True) as folder:
        os.close(os.open(path.name, _NEW, 0o644, dir_fd=folder))
        return True
    return False


def keep_out_of_git(path: Path) -> None:
    """Creates a folder, and in it the file by which git ignores all of it. Raises OSError."""
    if created(path / IGNORE):
        write_whole(path / IGNORE, "*\n")


def open_plain(path: Path, flags: int = os.O_WRONLY | os.O_CREAT) -> int:
    """A descriptor of this file, which is never truncated. Raises OSError."""
    never_wait = getattr(os, "O_NONBLOCK", 0)  # does not block if it is a named pipe
    with open_folder(path.parent) as folder:
        return os.open(path.name, flags | _NO_LINK | never_wait, 0o644, dir_fd=folder)


def folders_with_mark(path: Path, mark: str) -> list[str]:
    """The subfolders with a regular file called `mark`. Raises InvalidSettings if `path` is behind a link."""
    folders = []
    with _usage_errors(), open_folder(path) as folder:
        for name in _names(folder):
            with suppress(OSError), open_folder(path / name) as inside:
                if _is_file(mark, inside):
                    folders.append(name)
    return folders


def remove_files(path: Path, names: Iterable[str]) -> None:
    """Removes the files of these names from a folder, if they exist. Raises OSError."""
    with open_folder(path) as folder:
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


def remove(path: Path, names: Iterable[str]) -> None:
    """Removes the files of these names, and their folder if nothing else is in it. Errors are ignored."""
    for name in names:
        with suppress(OSError):
            remove_files(path, [name])
    with suppress(OSError), open_folder(path.parent) as above:
        os.rmdir(path.name, dir_fd=above)


def hand_over(path: Path, base: Path) -> None:
    """Gives the folders from `base` down to this one, and the files in it, to whoever owns `base`."""
    owner = base.stat()
    for folder in reversed([path, *path.relative_to(base).parents]):
        with suppress(OSError), open_folder(base / folder) as inside:
            os.fchown(inside, owner.st_uid, owner.st_gid)
            for name in _names(inside) if base / folder == path else ():
                if _is_file(name, inside):
                    os.chown(name, owner.st_uid, owner.st_gid, dir_fd=inside, follow_symlinks=False)
