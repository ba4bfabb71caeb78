"""The files that a case wants in its working folder: their paths and content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from runevals.lib.parsing.source import is_of_git, resolved_path

MOST_FILES = 2000  # of one folder


def find_files(names: Sequence[str], bases: Sequence[Path], root: Path) -> Mapping[str, Path | None]:
    """Each name → the file or folder in the first of `bases` that has it; None if none has, or it lies outside."""
    return {name: next(_matches(name, bases, root), None) for name in names}


def place_of(name: str) -> str:
    """Where a file of this name is put, in the working folder and never above it."""
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("..", ".", "/")]
    return "/".join(parts)


def digests(files: Mapping[str, Path]) -> Mapping[str, str]:
    """What is in each of them, so that a case with another file is another case."""
    return {name: _digest(path) for name, path in files.items()}


def _matches(name: str, bases: Sequence[Path], root: Path) -> Iterator[Path]:
    if PurePosixPath(name.replace("\\", "/")).is_absolute() or not place_of(name):
        return
    for base in bases:
        path = resolved_path(base / name)
        inside = path is not None and path.is_relative_to(root.resolve()) and not is_of_git(path, root)
        if path is not None and inside and (path.is_file() or path.is_dir()):
            yield path


def _digest(path: Path) -> str:
    if path.is_file():
        return sha256(path.read_bytes()).hexdigest()
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.is_symlink())[:MOST_FILES]
    listing = "".join(f"{file.relative_to(path).as_posix()}\0{_digest(file)}\n" for file in files)
    return sha256(listing.encode()).hexdigest()
