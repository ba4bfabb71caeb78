"""Which commit a change would be merged into, and what that commit's settings say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runevals.errors import WorldRefused
from runevals.git import checked_out, commit_of, common_ancestor, fetched, file_at, merge_base
from runevals.github.events import is_change, job_of, read_event
from runevals.settings import Told, config_of, repository_root
from runevals.settings_file import BaseSide, SettingsFile, base_settings_file


def base_side(told: Told, ref: str | None = None) -> BaseSide | None:
    """The side that decides over a change: of `ref` where it is given, else of the pull request's event.

    None where nothing says that this is a change. Raises InvalidSettings for a ref that git does not know,
    WorldRefused for a pull request whose base cannot be had: then nothing may be decided by the change's own
    settings. Raises InvalidSuite for a settings file of the base that is broken.
    """
    cwd, environment, config = told.cwd, told.environment, config_of(told)
    change = is_change(environment)
    if ref is not None:
        commit = merge_base(cwd, ref)
    elif change:
        commit = _of_event(cwd, environment)
    else:
        return None

    def settings_of(known: str) -> SettingsFile | None:
        return base_settings_file(cwd, repository, config, lambda path: file_at(repository, known, path))

    repository = repository_root(cwd)
    fork = common_ancestor(cwd, commit)
    return BaseSide(
        commit=commit,
        file=settings_of(commit),
        forked=None if fork is None else settings_of(fork),
        on_pull_request=change,
    )


def _of_event(cwd: Path, environment: Mapping[str, str]) -> str:
    named = job_of(read_event(environment, *checked_out(cwd))).base
    if named is None:
        raise WorldRefused(
            "this is a pull request, but its event (GITHUB_EVENT_PATH) does not say on which base; "
            "gates and baseline are read from there"
        )
    commit = commit_of(cwd, named)
    if commit is None and fetched(repository_root(cwd), named):
        commit = named
    if commit is None:
        raise WorldRefused(
            f"the base commit {named[:7]} is not in this checkout and cannot be fetched; gates and baseline "
            "are read from there. Check out with `fetch-depth: 0`"
        )
    return commit
