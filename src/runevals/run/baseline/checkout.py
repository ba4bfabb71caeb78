"""The base's commit in a worktree of its own, with its settings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from runevals.lib import git
from runevals.lib.git_changes import changed_files
from runevals.lib.worktree import worktree
from runevals.records.errors import ExternalError, InvalidSettings, InvalidSuite, NoSuiteFound
from runevals.records.rules import SuiteEntry
from runevals.run.baseline.editable_installs import with_own_packages
from runevals.run.baseline.relocate import rerooted
from runevals.settings.file import SettingsFile
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.suites.discover import discover, suite_files
from runevals.suites.load import is_suite


@contextmanager
def base_checkout(settings: Settings, commit: str, raw: RawSettings) -> Iterator[Settings]:
    """The settings of `raw` in a temporary worktree of `commit`.

    Raises ExternalError if git cannot check it out, NoSuiteFound if it has not got the folder that we are in,
    or if the settings that decide over the change cannot be read.
    """
    if not is_here(settings, commit):
        raise ExternalError(
            f"the base commit {commit[:7]} is not in this checkout and cannot be fetched; check out with "
            "`fetch-depth: 0`"
        )
    with worktree(settings.repository, commit) as checkout:
        cwd = checkout / settings.cwd.relative_to(settings.repository)
        if not cwd.is_dir():
            _require_new(settings, commit, [settings.cwd])
            raise NoSuiteFound(f"the base {commit[:7]} has no folder {cwd.name}")
        words = replace(rerooted(raw, cwd), of_base=settings.base_side is not None)
        try:
            there = replace(base_settings(words, settings), not_from=settings.repository)
            there = with_own_packages(there, settings.repository)
            there = replace(there, measure=replace(there.measure, cache=settings.measure.cache))
        except InvalidSuite as error:
            if settings.base_side is None or settings.base_side.unreadable is None:
                raise
            raise NoSuiteFound(f"its settings cannot be read: {error.problems[0]}") from None
        except InvalidSettings as error:
            if settings.target_name is None:
                raise
            raise NoSuiteFound(f"it has no target '{settings.target_name}': {error.first_line}") from None
        mcp_config = None if there.load.mcp_config is None else (cwd / there.load.mcp_config).resolve()
        if mcp_config is not None and mcp_config.is_relative_to(settings.repository.resolve()):
            # By a link from elsewhere, it is the first checkout's.
            there = replace(there, load=replace(there.load, mcp_config=None))
        there = _with_suites_of(there, settings, commit)
        try:
            yield there
        except NoSuiteFound as error:  # where the worktree was is no news
            raise NoSuiteFound(str(error).replace(str(cwd), "it")) from None


def _with_suites_of(there: Settings, head: Settings, commit: str) -> Settings:
    """The base's settings; for suites of flags that it has not got, those beside them that only it has.

    A shell expands `evals/*.json` for the head: it names what the change adds, and not what it renames or removes.
    Raises ExternalError if all of them have another name in the base, which is not where the run looks for them.
    """
    entries = there.load.suites
    absent = [entry for entry in entries if not entry.from_file and not _is_there(entry)]
    if not absent:
        return there
    places = [Path(os.path.normpath(entry.base / entry.path)) for entry in absent]
    folders = dict.fromkeys(place.parent for place in places)
    gone = [path for folder in folders for path in _only_in(there, head, folder)]
    in_base = [entry for entry in entries if entry not in absent]
    in_base += [each for path in gone if _is_there(each := replace(absent[0], path=path.name, base=path.parent))]
    if not in_base:
        inside = [place for place in places if place.is_relative_to(there.repository)]
        _require_new(head, commit, [head.repository / place.relative_to(there.repository) for place in inside])
        return there  # loading them says that they are not there
    return replace(there, load=replace(there.load, suites=tuple(in_base)))


def _is_there(entry: SuiteEntry) -> bool:
    try:
        discover(entry.base, entry.path)
    except NoSuiteFound:
        return False
    return True


def _only_in(there: Settings, head: Settings, folder: Path) -> Iterator[Path]:
    """The suites and folders in a folder of the base that the head has no longer."""
    if not folder.is_relative_to(there.repository) or not folder.is_dir():
        return
    folders = (path for path in sorted(folder.iterdir()) if path.is_dir())
    for path in (*filter(is_suite, suite_files(folder)), *folders):
        if not (head.repository / path.relative_to(there.repository)).exists():
            yield path


def _require_new(head: Settings, commit: str, places: Sequence[Path]) -> None:
    """Raises ExternalError if something at these places of the head is in the base by another name."""
    for was, now in changed_files(head.repository, commit) or ():
        if was is None or now is None or was == now:
            continue
        if any((head.repository / now).is_relative_to(place) for place in places):
            raise ExternalError(
                f"{now} is {was} in the base {commit[:7]}, and this run looks for it by its new name alone: "
                "name the folder or a pattern in `suites:`, or compare with a stored result (--baseline)"
            )


def require_in_base(files: Iterable[Path], there: Settings, head: Settings) -> None:
    """Raises ExternalError if the base cannot have a suite of the head: its repository does not have it."""
    for file in dict.fromkeys(Path(os.path.normpath(file)) for file in files):
        if not file.is_relative_to(head.repository):
            continue
        name = file.relative_to(head.repository)
        if (there.repository / name).exists():
            continue
        folders = (folder for folder in name.parents if folder.name)
        nested = next((folder for folder in folders if (head.repository / folder / ".git").exists()), None)
        if nested is None and not git.is_ignored(head.repository, file):
            continue  # the change adds it
        why = "git ignores it" if nested is None else f"{nested} is a repository of its own (a submodule)"
        raise ExternalError(
            f"a checkout of the base does not have {name}, because {why}: make it with `base_setup`, or compare "
            "with a stored result (--baseline)"
        )


def base_settings(words: RawSettings, settings: Settings, file: SettingsFile | None = None) -> Settings:
    """The base's settings; of one of several targets, those of the base's target of this name."""
    name = settings.target_name
    return resolve(words if name is None else replace(words, flags={**words.flags, "target": name}), file)


def is_here(settings: Settings, commit: str) -> bool:
    """Whether git has this commit, fetched by its sha if it had to be."""
    return git.commit_of(settings.repository, commit) is not None or git.fetch_commit(settings.repository, commit)
