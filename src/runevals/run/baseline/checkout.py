"""The base's commit in a worktree of its own, with its settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from runevals.lib import git
from runevals.lib.worktree import worktree
from runevals.records.errors import ExternalError, InvalidSettings, InvalidSuite, NoSuiteFound
from runevals.run.baseline.editable_installs import with_own_packages
from runevals.run.baseline.relocate import rerooted
from runevals.settings.file import SettingsFile
from runevals.settings.resolve import RawSettings, Settings, resolve


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
        try:
            yield there
        except NoSuiteFound as error:  # where the worktree was is no news
            raise NoSuiteFound(str(error).replace(str(cwd), "it")) from None


def base_settings(words: RawSettings, settings: Settings, file: SettingsFile | None = None) -> Settings:
    """The base's settings; of one of several targets, those of the base's target of this name."""
    name = settings.target_name
    return resolve(words if name is None else replace(words, flags={**words.flags, "target": name}), file)


def is_here(settings: Settings, commit: str) -> bool:
    """Whether git has this commit, fetched by its sha if it had to be."""
    return git.commit_of(settings.repository, commit) is not None or git.fetch_commit(settings.repository, commit)
