"""The projects of a repository: the folders with a settings file of their own, each run as if inside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from runevals.lib import git
from runevals.lib.git import repository_root
from runevals.lib.text.numbers import plural, short_list
from runevals.records import Conclusion, FinalVerdict
from runevals.records.errors import (
    COULD_NOT_MEASURE,
    GATE_FAILED,
    INTERNAL_ERROR,
    INTERRUPTED,
    PASSED,
    USAGE_ERROR,
    ExternalError,
    InvalidSettings,
    RunevalsError,
)
from runevals.records.quick_dataclass import dataclass
from runevals.run.load import suites_of
from runevals.run.nothing_measured import nothing_measured, unmeasured
from runevals.settings.file import BaseSide
from runevals.settings.resolve import RawSettings, Settings, resolve

# Exit codes in words, the worst first.
_WORST_FIRST = {
    INTERRUPTED: "interrupted",
    GATE_FAILED: "failed",
    INTERNAL_ERROR: "ended with an internal error",
    USAGE_ERROR: "could not be run",
    COULD_NOT_MEASURE: "not measured",
    PASSED: "passed",
}
NAMES = ("runevals.yaml", "runevals.yml")  # the first of a folder is its settings file
MOST_PROJECTS = 40  # in one comment, and in one artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A folder, relative to where the command runs ("." for itself), and its settings file."""

    name: str
    config: str
    removed: bool = False  # only the base has it


def projects_in(cwd: Path, base: str | None = None) -> tuple[Project, ...]:
    """The projects here, in the order of their names, and those that only the commit `base` has.

    Raises InvalidSettings if there are none or too many, ExternalError if git does not say what the base has.
    """
    repository = repository_root(cwd)
    here = _settings_files(_files_of(repository), cwd, repository)
    before = {} if base is None else _settings_files(_files_at(repository, base), cwd, repository)
    projects = tuple(
        Project(name=name, config=here.get(name) or before[name], removed=name not in here)
        for name in sorted({*here, *before})
    )
    if not projects:
        raise InvalidSettings(f"--all-projects: no folder of {cwd} has a {NAMES[0]}")
    if len(projects) > MOST_PROJECTS:
        raise InvalidSettings(
            f"--all-projects: {len(projects)} folders have a {NAMES[0]}, and one run has {MOST_PROJECTS} at most; "
            "run each in a job of its own, with `config`"
        )
    return projects


def way_to_projects(cwd: Path) -> str:
    """What to do in a folder that is none of the projects below it; empty if git knows of none."""
    if git.files_of(cwd) is None:
        return ""  # the folder may be of any size, such as all of a user's
    try:
        names = [project.name for project in projects_in(cwd)]
    except InvalidSettings:
        return ""
    if "." in names:
        return ""
    return f"\n{short_list(names, 5)} have settings of their own: run `runevals` there, or runevals --all-projects"


def require_apart(projects: Iterable[Project], raw: RawSettings) -> None:
    """Raises InvalidSettings for a suite of two projects, which would be run, paid and counted twice.

    A project whose settings or suites cannot be read says so when it is run.
    """
    owners: dict[str, Project] = {}
    for project in projects:
        for suite in () if project.removed else _suites_of(project, raw):
            other = owners.setdefault(suite, project)
            if other is not project:
                raise InvalidSettings(
                    f"{suite}: is a suite of two projects, {other.config} and {project.config}; "
                    "name the suites of each with `suites`, so that none is in both"
                )


def settings_of(project: Project, raw: RawSettings, side: BaseSide | None = None) -> RawSettings:
    """The raw settings of a run inside the project's folder."""
    return RawSettings(
        flags=raw.flags,
        inputs=raw.inputs,
        cwd=raw.cwd / project.name,
        environment=raw.environment,
        base_side=side,
    )


def removed(project: Project, settings: Settings) -> Conclusion:
    """The conclusion for a project that only the base has: unmeasured, unless the base's settings let it pass."""
    if settings.rules.on_incomparable == "pass":
        headline = "Skipped, and the check passes: the change removes this project (on_incomparable: pass)"
        verdict = FinalVerdict(outcome="skipped", headline=headline, exit_code=PASSED)
    else:
        why = (
            f"the change removes this project ({project.config}), so nothing says what was lost with it; "
            "`baseline: {on_incomparable: pass}` in that file allows it, once it is merged"
        )
        verdict = unmeasured(why, COULD_NOT_MEASURE)
    return nothing_measured(settings, verdict)


def worst(codes: Iterable[int]) -> int:
    """The exit code of all projects: a failing verdict is never hidden by another project's error.

    An interruption goes first, as it does in one run.
    """
    order = list(_WORST_FIRST)
    return min(codes, key=order.index)


def in_words(codes: Mapping[str, int], kind: str = "project") -> str:
    """Project → exit code: "1 of 3 projects failed: support; 2 passed"; `kind` is another word for them."""
    groups = {word: [name for name in codes if codes[name] == code] for code, word in _WORST_FIRST.items()}
    parts: list[str] = []
    for word, members in groups.items():
        if members:
            count = str(len(members)) if parts else _of_all(len(members), len(codes), kind)
            parts.append(f"{count} {word}" + ("" if word == "passed" else f": {short_list(members, 5)}"))
    return "; ".join(parts)


def _of_all(number: int, total: int, kind: str) -> str:
    return plural(total, kind) if number == total else f"{number} of {plural(total, kind)}"


def _suites_of(project: Project, raw: RawSettings) -> set[str]:
    try:
        loaded = suites_of(resolve(settings_of(project, raw)))
    except RunevalsError:
        return set()
    return {suite.path for suite in loaded.suites}


def _settings_files(files: Iterable[str], cwd: Path, repository: Path) -> Mapping[str, str]:
    """Folder → its settings file, both relative to `cwd`."""
    by_file: dict[str, str] = {}
    above = PurePosixPath(os.path.relpath(cwd, repository).replace(os.sep, "/"))
    for file in sorted(files):
        path = PurePosixPath(file)
        if path.name in NAMES and path.is_relative_to(above) and _is_source(path.relative_to(above).parent):
            inside = path.relative_to(above)
            by_file.setdefault(inside.parent.as_posix(), inside.as_posix())
    return by_file


def _is_source(folder: PurePosixPath) -> bool:
    """Whether it is neither a hidden folder nor an installed package."""
    return not any(part.startswith(".") or part == "node_modules" for part in folder.parts)


def _files_of(repository: Path) -> list[str]:
    files = git.files_of(repository)
    if files is not None:
        return [file for file in files if (repository / file).is_file()]
    return [path.relative_to(repository).as_posix() for name in NAMES for path in repository.rglob(name)]


def _files_at(repository: Path, commit: str) -> list[str]:
    files = git.names(repository, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
    if files is None:
        raise ExternalError(f"git does not list the files of the base {commit[:7]}, so its projects are unknown")
    return files
