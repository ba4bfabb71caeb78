"""Files and folders of ours, made, written and removed without following a link.

What is checked out may be a stranger's, and a link in it may lead anywhere. So below the repository's root each
component of a path is opened by itself, in the folder that was opened before it, and a link is refused where it
stands, whether it was there before us or is made while we run. What lies outside the repository no commit can
change: such a path is the user's own word.
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

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_UNFINISHED = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{8}\.new")  # what a file is called until it is whole


class ForeignFile(OSError):
    """Something stands where our files go, and we did not make it."""

    def __init__(self, path: Path, what: str) -> None:
        here = Path.cwd()
        display_path = path.relative_to(here) if path.is_relative_to(here) else path
        super().__init__(0, f"{display_path} {what}")

    def __str__(self) -> str:
        return str(self.strerror)


def require_no_link(*paths: Path) -> None:
    """Raises InvalidSettings if one of these files, which need not be there, is a link or lies behind one.

    Outside the repository, only the file itself must be none.
    """
    for path in paths:
        try:
            refuse_links(path.parent, [path.name])
        except ForeignFile as error:
            raise InvalidSettings(str(error)) from None
        except OSError:  # it is not there, or not to be had: who writes there will say so
            continue


def refuse_links(path: Path, names: Iterable[str]) -> None:
    """Raises ForeignFile if one of these files is a link, OSError if the folder cannot be opened."""
    with open_folder(path) as inside:
        for name in names:
            _refuse_link(path / name, inside)


def require_only(path: Path, names: Collection[str]) -> None:
    """Raises InvalidSettings if the folder holds anything but plain files of these names; it need not be there.

    A file of such a name that was never finished may lie there too.
    """
    try:
        with open_folder(path) as inside:
            for name in _names(inside):
                unfinished = _UNFINISHED.fullmatch(name)
                names_ = name if unfinished is None else unfinished["name"]
                if names_ not in names or not _is_file(name, inside):
                    raise ForeignFile(path / name, "is none of our files; remove it, or name another folder")
    except ForeignFile as error:
        raise InvalidSettings(str(error)) from None
    except OSError:  # it is not there, or not to be had: who writes there will say so
        return


@contextmanager
def open_folder(path: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder at this path. With `make`, what is missing of it is made.

    Raises ForeignFile for a link in it, OSError for what else keeps it from being opened.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - by its words: `..` must not lead back out of a link
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
    """The beginning of a path in which links may be: up to the repository that we are in, otherwise all of it."""
    here = Path.cwd()
    # The outermost, if one is in another: a submodule's links are not its own only.
    repository = next(
        (above for above in reversed((here, *here.parents)) if os.path.lexists(above / ".git")), here
    )
    if path.is_relative_to(repository):
        return repository
    for above in reversed((path, *path.parents)):
        if Path(os.path.realpath(above)).is_relative_to(repository):
            return above
    return path


def _refuse_link(path: Path, folder: int) -> None:
    with suppress(FileNotFoundError):
        if stat.S_ISLNK(os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise ForeignFile(path, "is a link, and nothing is read, written or removed there; name another place")


def is_plain(path: Path) -> bool:
    """Whether a plain file is there, and no link on the way to it."""
    try:
        with open_folder(path.parent) as folder:
            return _is_file(path.name, folder)
    except OSError:
        return False


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)


def _is_file(name: str, folder: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def behind_links(path: Path) -> Path:
    """Where a file is that its author wants changed: a link stays a link, and what it leads to is written.

    Raises InvalidSettings if that lies outside the repository that the link is in.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - see `open_folder`
    root, target = _unchecked(absolute), absolute.resolve()
    if root != absolute and not target.is_relative_to(root.resolve()):
        raise InvalidSettings(f"{path} leads to {target}, outside the repository; name that file itself")
    return target


def write_whole(path: Path, text: str | Iterable[str]) -> None:
    """Writes a text, or its pieces, by way of a neighbour: no reader meets half a file. Raises CannotWrite.

    What UTF-8 cannot hold (lone surrogates) is written as an escape.
    """
    try:
        with open_folder(path.parent, make=True) as folder:
            _refuse_link(path, folder)
            _write(path.name, text, folder)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error


def _write(name: str, text: str | Iterable[str], folder: int) -> None:
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode if _is_file(name, folder) else 0o644
    unfinished = f".{name}.{secrets.token_hex(4)}.new"
    descriptor = os.open(unfinished, _NEW, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in (text,) if isinstance(text, str) else text:
                file.write(piece.encode("utf-8", errors="backslashreplace"))
            os.fchmod(file.fileno(), stat.S_IMODE(mode) & 0o777)
        os.replace(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
        raise


def created(path: Path) -> bool:
    """Whether an empty file could be made here, and nothing was there. Raises OSError."""
    try:
        with open_folder(path.parent, make=True) as folder:
            os.close(os.open(path.name, _NEW, 0o644, dir_fd=folder))
    except FileExistsError:
        return False
    return True


def open_for_lock(path: Path) -> int:
    """A descriptor of this file, which is made but never emptied. Raises OSError."""
    never_wait = getattr(os, "O_NONBLOCK", 0)  # for whoever may read a pipe of that name
    with open_folder(path.parent) as folder:
        return os.open(path.name, os.O_WRONLY | os.O_CREAT | _NO_LINK | never_wait, 0o644, dir_fd=folder)


def folders_with_mark(path: Path, mark: str) -> list[str]:
    """The names of the folders in this one that hold a plain file called `mark`.

    Raises InvalidSettings if this one is behind a link.
    """
    folders = []
    try:
        with open_folder(path) as folder:
            for name in _names(folder):
                with suppress(OSError), open_folder(path / name) as inside:
                    if _is_file(mark, inside):
                        folders.append(name)
    except ForeignFile as error:
        raise InvalidSettings(str(error)) from None
    except OSError:
        return []
    return folders


def remove_files(path: Path, names: Iterable[str]) -> None:
    """Removes the files of these names from a folder, as far as they are there. Raises OSError."""
    with open_folder(path) as folder:
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


def remove(path: Path, names: Iterable[str]) -> None:
    """Removes the files of these names from a folder, and the folder if nothing else is in it.

    What cannot be removed stays.
    """
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
