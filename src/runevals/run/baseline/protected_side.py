"""Which commit a change would be merged into, and what that commit's settings say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runevals.github.events import is_change, is_strange, job_of, read_event
from runevals.lib.git import commit_of, common_ancestor, fetched, file_at, links_to, merge_base, submodule_of
from runevals.records.errors import InvalidSettings, WorldRefused
from runevals.settings.file import BaseSide, SettingsFile, base_settings_file
from runevals.settings.resolve import Told, config_of, repository_root


def base_side(told: Told, ref: str | None = None) -> BaseSide | None:
    """The side that decides over a change: of `ref` where it is given, else of the pull request's event.

    None where nothing says that this is a change. Raises InvalidSettings for a ref that git does not know,
    WorldRefused for a pull request whose base cannot be had: then nothing may be decided by the change's own
    settings. Raises InvalidSuite for a settings file of the base that is broken.
    """
    cwd, environment, config = told.cwd, told.environment, config_of(told)
    repository = repository_root(cwd)
    change = is_change(environment)
    if ref is not None:
        _require_own_branches(repository, environment)
    commit = merge_base(repository, ref) if ref is not None else _of_event(repository, environment)
    if commit is None:
        return None
    folders = (cwd, *links_to(repository, cwd))  # a change may have put a link in place of the folder

    def settings_of(known: str) -> SettingsFile | None:
        return base_settings_file(folders, repository, config, lambda path: file_at(repository, known, path))

    fork = common_ancestor(repository, commit)
    return BaseSide(
        commit=commit,
        file=settings_of(commit),
        forked=None if fork is None else settings_of(fork),
        on_pull_request=change,
    )


def _require_own_branches(repository: Path, environment: Mapping[str, str]) -> None:
    """Raises InvalidSettings for a submodule in CI: a change says which repository that is, with what branches."""
    outer = submodule_of(repository) if environment.get("CI") else None
    if outer is not None:
        raise InvalidSettings(
            f"{repository} is a submodule of {outer}: what its branches and commits are, the change itself can "
            "choose, so nothing in it can be the base; check its repository out on its own"
        )


def _of_event(repository: Path, environment: Mapping[str, str]) -> str | None:
    event = read_event(environment, repository)
    if event.name and event.unreadable is not None:
        raise WorldRefused(f"git does not say which commit is checked out: {event.unreadable}")
    if not is_change(environment) and not is_strange(event):
        return None
    named = job_of(event).base if is_change(environment) else event.sha
    if not named:
        raise WorldRefused(
            "this is a change, but its event (GITHUB_EVENT_PATH) does not say on which base; "
            "gates and baseline are read from there"
        )
    _require_own_branches(repository, environment)
    commit = commit_of(repository, named)
    if commit is None and fetched(repository, named):
        commit = named
    if commit is None:
        raise WorldRefused(
            f"the base commit {named[:7]} is not in this checkout and cannot be fetched; gates and baseline "
            "are read from there. Check out with `fetch-depth: 0`"
        )
    return commit
