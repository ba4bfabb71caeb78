"""The projects of a repository: the folders with a settings file of their own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from msgspec import Struct

from runevals.lib.checkout import repository_root
from runevals.lib.storage.files import path_from
from runevals.lib.text.numbers import phrase, short_list
from runevals.records.errors import ExternalError, InvalidSettings
from runevals.repository import git
from runevals.repository.git_changes import renamed_files
from runevals.settings.places import PYPROJECT, content_here, has_settings, only_one

NAMES = ("runevals.yaml", "runevals.yml", PYPROJECT)
_NO_SOURCE = re.compile(r"(^|/)(\.(?!\w+/skills?/)|node_modules/)")  # hidden but for agents' skills, or installed
MOST_PROJECTS = 40  # in one comment, and in one artifact


class Project(Struct, frozen=True, kw_only=True):
    """A folder, relative to where the command runs ("." for itself), and its settings file."""

    name: str
    config: str
    removed: bool = False  # only the base has it


def projects_in(cwd: Path, base: str | None = None) -> tuple[Project, ...]:
    """The projects here, in the order of their names, and those that only the commit `base` has, at any place.

    Raises InvalidSettings if there are none or too many, ExternalError if git does not say what the base has.
    """
    repository = repository_root(cwd)
    here = _settings_files(_files_of(repository), cwd, repository, lambda path: content_here(repository / path))
    before = {} if base is None else _settings_files_at(base, cwd, repository)
    projects = tuple(
        Project(name=name, config=here.get(name) or before[name], removed=name not in here)
        for name in sorted({*here, *before}.difference(_moved(here, before, cwd, base)))
    )
    if not projects:
        raise InvalidSettings(f"--all-projects: no folder of {cwd} has a {NAMES[0]}")
    if len(projects) > MOST_PROJECTS:
        raise InvalidSettings(
            f"--all-projects: {len(projects)} folders have a {NAMES[0]}, and one run has {MOST_PROJECTS} at most; "
            "run each in a job of its own, with `config`"
        )
    return projects


def folders_in(cwd: Path) -> list[str]:
    """The folders of the projects here; empty if git knows of no files."""
    if git.files_of(cwd) is None:
        return []  # the folder may be of any size, such as all of a user's
    with suppress(InvalidSettings):
        return [project.name for project in projects_in(cwd)]
    return []


def way_to_projects(cwd: Path) -> str:
    """What to do in a folder that is none of the projects below it, or has no suites; empty if there are none."""
    names = folders_in(cwd)
    own = phrase("." in names, "; a settings file makes this folder one, too: remove it if its suites are theirs")
    below = short_list(sorted({*names} - {"."}), 5)
    return phrase(below, f"\nsettings lie in {{}}: run all by runevals --all-projects, or one in its folder{own}")


def _settings_files(
    files: Iterable[str], cwd: Path, repository: Path, content_of: Callable[[str], bytes | None]
) -> Mapping[str, str]:
    """Folder → its settings file, both relative to `cwd`. Raises InvalidSuite for two in a folder."""
    by_folder: dict[str, list[Path]] = {}
    above = PurePosixPath(path_from(cwd, repository))
    for file in sorted(files):
        path = PurePosixPath(file)
        if path.name in NAMES and path.is_relative_to(above):
            inside = Path(path.relative_to(above))
            if not _NO_SOURCE.search(inside.as_posix()) and has_settings(path, content_of(file)):
                by_folder.setdefault(inside.parent.as_posix(), []).append(inside)
    return {folder: only_one(paths, Path())[0].as_posix() for folder, paths in by_folder.items()}


def _settings_files_at(commit: str, cwd: Path, repository: Path) -> Mapping[str, str]:
    files = git.names(repository, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
    if files is None:
        raise ExternalError(f"git does not list the files of the base {commit[:7]}, so its projects are unknown")
    return _settings_files(files, cwd, repository, lambda path: git.file_at(repository, commit, path))


def _moved(here: Mapping[str, str], before: Mapping[str, str], cwd: Path, base: str | None) -> Iterator[str]:
    """The former folders of projects: their settings were renamed to those of a folder that had none."""
    repository = repository_root(cwd)
    renames = {} if base is None else renamed_files(repository, base)
    paths = ((os.path.relpath(repository / now, cwd), repository / was) for now, was in renames.items())
    former = {now: os.path.relpath(was, cwd) for now, was in paths}
    moved = {former.get(here[name]) for name in here.keys() - before.keys()}
    yield from (name for name in before.keys() - here.keys() if before[name] in moved)


def _files_of(repository: Path) -> list[str]:
    files = git.files_of(repository)
    if files is not None:
        return [file for file in files if (repository / file).is_file()]
    return [path.relative_to(repository).as_posix() for name in NAMES for path in repository.rglob(name)]
