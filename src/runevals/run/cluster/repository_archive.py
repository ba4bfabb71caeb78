"""The files of a repository, packed for machines that lack its checkout."""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from runevals.lib.text.secrets import KEY_SHAPES
from runevals.records.errors import InvalidSettings
from runevals.repository import git

MOST_BYTES = 256 * 1024 * 1024
_LEFT_OUT = frozenset({".git", ".evals", ".venv", "node_modules", "__pycache__"})  # without git
_MEGABYTE = 1024 * 1024
_KEY = re.compile(KEY_SHAPES.encode())


def packed(repository: Path, secrets: Mapping[str, str]) -> bytes:
    """The files that git tracks or would, as a tar. Dotenv files stay here, and so do links that lead outside.

    Raises InvalidSettings if they are too large to be sent, or one holds one of the `secrets` (value → name) or
    what has the shape of a key.
    """
    forbidden = {os.fsencode(value): name for value, name in secrets.items()}
    content, size = io.BytesIO(), 0
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name in _names(repository):
            path = repository / name
            if path.name.startswith(".env") or path.suffix == ".env" or not _inside(path, repository):
                continue
            secret = _forbidden_in(path, forbidden)
            if secret is not None:
                raise InvalidSettings(
                    f"the file {name} holds {secret}, and would be sent to the Ray cluster; take it out, or have "
                    "git ignore the file"
                )
            size += path.lstat().st_size
            if size > MOST_BYTES:
                raise InvalidSettings(
                    f"the repository has more than {MOST_BYTES // _MEGABYTE} MiB of files, too much to send "
                    "to every node of the Ray cluster; what the target does not need, git can ignore"
                )
            tar.add(path, name, recursive=False)
    return content.getvalue()


def unpack(parcel: bytes, folder: Path) -> None:
    """Writes the files under `folder`, and nothing outside it."""
    with tarfile.open(fileobj=io.BytesIO(parcel)) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # the earliest 3.11 has none
        tar.extractall(folder)  # noqa: S202 - what `packed` made, filtered again


class PathMap(Struct, frozen=True, kw_only=True):
    """Where a repository's paths are on the machine that its files were sent to."""

    before: tuple[Path, ...]  # as it was named, and where links led
    now: Path

    def path(self, path: Path) -> Path:
        """Where a file of the repository is there; any other file keeps its path."""
        known = (self.now / path.relative_to(before) for before in self.before if path.is_relative_to(before))
        return next(known, path)


def _names(repository: Path) -> Iterator[str]:
    names = git.files_of(repository)
    if names is not None:
        yield from sorted({name for name in names if not name.startswith(".evals/")})
        return
    for folder, folders, files in os.walk(repository):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        yield from sorted(os.path.relpath(Path(folder, name), repository) for name in files)


def _forbidden_in(path: Path, forbidden: Mapping[bytes, str]) -> str | None:
    """A description of what in a file must not be sent; a file too large to be sent is not read."""
    content = path.read_bytes() if path.stat().st_size <= MOST_BYTES else b""
    for value, name in forbidden.items():
        if value in content:
            return f"the value of {name}"
    return "what has the shape of a key" if _KEY.search(content) else None


def _inside(path: Path, repository: Path) -> bool:
    """Whether it is there, and leads to nothing outside."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    absolute_link = path.is_symlink() and path.readlink().is_absolute()
    return target.is_relative_to(repository.resolve()) and not absolute_link and not path.is_dir()
