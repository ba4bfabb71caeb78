"""Which file of a folder has its settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from runevals.lib.parsing.toml import toml_value
from runevals.records import FileProblem, Location
from runevals.records.errors import InvalidSuite

PYPROJECT, TABLE = "pyproject.toml", ("tool", "runevals")
PLACES = ("runevals.yaml", "runevals.yml", ".github/runevals.yaml", PYPROJECT)


def has_settings(path: PurePath, content: bytes | None) -> bool:
    """Whether the file at one of the places has settings. `content`: None if there is no such file."""
    if content is None or path.name != PYPROJECT:
        return content is not None
    try:
        return settings_table(toml_value(content.decode("utf-8-sig"))) is not None
    except ValueError:
        return b"[tool.runevals" in content  # reading it reports the mistake


def settings_table(document: object) -> object:
    """`[tool.runevals]` of a TOML document; None if it has none."""
    match document:
        case {"tool": {"runevals": table}}:
            return table
        case _:
            return None


def settings_file_in(
    folders: Iterable[Path], places: Iterable[str], contents_of: Callable[[Sequence[Path]], Iterable[bytes | None]]
) -> Path | None:
    """The settings file of the first of these folders that has one. Raises InvalidSuite for two in a folder."""
    for folder in folders:
        paths = [folder / place for place in places]
        files = zip(paths, contents_of(paths), strict=True)
        for path in only_one([path for path, content in files if has_settings(path, content)], folder):
            return path
    return None


def only_one(paths: Sequence[Path], folder: Path) -> Sequence[Path]:
    """These settings files of a folder. Raises InvalidSuite for two of them, one of which would be ignored."""
    first, *others = [os.path.relpath(path, folder) for path in paths] or [""]
    message = f"has settings, and so does {first}; keep one of them"
    problems = [FileProblem(location=Location(file=name), pointer="", message=message) for name in others]
    if problems:
        raise InvalidSuite(problems)
    return paths


def contents_here(paths: Iterable[Path]) -> Iterator[bytes | None]:
    """For `settings_file_in`: the contents of files here, empty if they do not matter for the question."""
    return map(content_here, paths)


def content_here(path: Path) -> bytes | None:
    if not path.is_file():
        return None
    return path.read_bytes() if path.name == PYPROJECT else b""
