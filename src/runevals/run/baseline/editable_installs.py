"""Editable installs lead programs of the base's worktree to packages of the first checkout; here, to its own."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from runevals.lib.parsing.source import resolved_path
from runevals.records.errors import ExternalError
from runevals.settings.resolve import Settings

_PACKAGES = ("lib*/python3*/*-packages", "local/lib*/python3*/*-packages")
_PATH = re.compile(r"""(?:^|['"])(/[^'"\n]+)""", re.MULTILINE)  # a line of a .pth file, or a text in Python


def with_own_packages(there: Settings, repository: Path) -> Settings:
    """`there` with a PYTHONPATH of its own folders, for those of `repository` that its Pythons import from.

    Raises ExternalError if the target's Python ignores PYTHONPATH.
    """
    if there.target is None or not there.target.traits.is_program:
        return there
    folders = dict.fromkeys(
        own
        for folder in _installed_from(there, repository.resolve())
        if (own := _counterpart(there.repository / folder)) is not None
    )
    if not folders:
        return there
    if any(re.fullmatch(r"-[A-Za-z]*[IE][A-Za-z]*", word) for word in there.target.command[1:2]):
        raise ExternalError(
            "it would import the change's packages, which an editable install leads to, because its command "
            "ignores PYTHONPATH; leave out -I and -E"
        )
    path = [*map(str, folders), *filter(None, [there.environment.get("PYTHONPATH")])]
    return replace(there, environment={**there.environment, "PYTHONPATH": os.pathsep.join(path)})


def _installed_from(there: Settings, repository: Path) -> Iterator[Path]:
    """The folders of a repository, relative to it, that its Pythons import from."""
    packages = {folder for prefix in _prefixes(there) for pattern in _PACKAGES for folder in prefix.glob(pattern)}
    for file in sorted(file for folder in packages for file in (*folder.glob("*.pth"), *folder.glob("*edit*.py"))):
        with suppress(OSError):
            for text in _PATH.findall(file.read_text(encoding="utf-8", errors="replace")):
                path = resolved_path(Path(text.strip()))
                if path is not None and path.is_relative_to(repository):
                    package = path.parent if path.name == "__init__.py" else path
                    yield (path if file.suffix == ".pth" else package.parent).relative_to(repository)


def _prefixes(there: Settings) -> set[Path]:
    """Where the Pythons are installed that the target may be run in."""
    target, environment = there.target, there.environment
    assert target is not None  # noqa: S101 - asked before
    search = environment.get("PATH", os.defpath)
    names = [*target.interpreters, *filter(None, [environment.get("RUNEVALS_PYTHON")])]
    programs = [shutil.which(str(target.base / name) if "/" in name else name, path=search) for name in names]
    on_path = [Path(folder, name) for folder in search.split(os.pathsep) for name in ("python", "python3")]
    files = [Path(sys.executable), *map(Path, filter(None, programs)), *filter(Path.is_file, on_path)]
    home = Path(environment.get("HOME", "/"), ".local")
    return {home, *(each.parent.parent for file in files for each in (file, file.resolve()))}


def _counterpart(folder: Path) -> Path | None:
    """The folder in the base, in which the packages may lie with or without `src`; None if it has neither."""
    other = folder.parent if folder.name == "src" else folder / "src"
    return next((each for each in (folder, other) if each.is_dir()), None)
