"""Which commit a change would be merged into, and what that commit's settings say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from runevals.lib.checkout import repository_root
from runevals.lib.ci import in_ci
from runevals.lib.storage.files import path_from
from runevals.records.errors import ExternalError, InvalidSettings, InvalidSuite
from runevals.repository.git import (
    commit_of,
    common_ancestor,
    fetch_commit,
    files_at,
    links_to,
    merge_base,
    submodule_of,
    why_unavailable,
)
from runevals.settings.file import BaseSide, SettingsFile, base_settings_file
from runevals.settings.places import PLACES, contents_here, has_settings
from runevals.settings.resolve import RawSettings, config_of


class ChangeEvent(Struct, frozen=True, kw_only=True):
    """The change that is checked out, according to the event that started the job."""

    unreadable: str | None = None  # why git does not say which commit that is
    on_pull_request: bool = False  # it is a proposed change
    untrusted: bool = False  # it is from a fork, or its author is unknown
    base: str | None = None  # the commit that decides over it


def protected_side(raw: RawSettings, event: ChangeEvent, ref: str | None = None) -> BaseSide | None:
    """The side that decides over a change: of `ref` if it is given, else of the pull request's `event`.

    None if nothing says that this is a change. Raises InvalidSettings for a ref that git does not know,
    ExternalError for a pull request whose base cannot be had: then nothing may be decided by the change's own
    settings. A settings file of the base that cannot be read counts as none: who repairs it must be let in.
    """
    cwd, environment, config = raw.cwd, raw.environment, config_of(raw)
    repository = repository_root(cwd)
    if ref is not None:
        _require_own_branches(repository, environment)
    commit = merge_base(repository, ref) if ref is not None else _of_event(repository, event, environment)
    if commit is None:
        return None
    from runevals.repository.git_changes import former_names, is_new  # only a change has another side

    folder = path_from((cwd / (config or PLACES[0])).parent, repository)  # of which a change may have made another
    folders = (cwd, *links_to(repository, cwd))  # a change may have put a link in place of the folder
    own = [cwd / place for place in PLACES]
    is_project = any(map(has_settings, own, contents_here(own)))

    def settings_of(known: str) -> tuple[SettingsFile | None, str | None]:
        former = former_names(repository, known, folder)
        above = () if is_project and is_new(repository, known, folder) else (repository,)  # another project's

        def read(paths: Sequence[str]) -> list[bytes | None]:
            return files_at(repository, known, [former.get(path, path) for path in paths])

        try:
            return base_settings_file(folders, repository, config, read, above), None
        except InvalidSuite as error:
            return None, str(error.problems[0])

    began_at = common_ancestor(repository, commit) if ref is None else commit
    of_commits = {known: settings_of(known) for known in dict.fromkeys((commit, began_at or commit))}
    file, unreadable = of_commits[commit]
    return BaseSide(
        commit=commit,
        file=file,
        began_at=began_at,
        forked=None if began_at is None else of_commits[began_at][0],
        on_pull_request=event.on_pull_request,
        unreadable=unreadable,
    )


def _require_own_branches(repository: Path, environment: Mapping[str, str]) -> None:
    """Raises InvalidSettings for a submodule in CI: the change decides which repository that is."""
    outer = submodule_of(repository) if in_ci(environment) else None
    if outer is not None:
        raise InvalidSettings(
            f"{repository} is a submodule of {outer}: what its branches and commits are, the change itself can "
            "choose, so nothing in it can be the base; check its repository out on its own"
        )


def _of_event(repository: Path, event: ChangeEvent, environment: Mapping[str, str]) -> str | None:
    if event.unreadable is not None:
        raise ExternalError(f"git does not say which commit is checked out: {event.unreadable}")
    if not event.untrusted:
        return None
    if not event.base:
        raise ExternalError(
            "this is a change, but its event (GITHUB_EVENT_PATH) does not say on which base, nor does the "
            "checkout; gates and baseline are read from there. Check out with `fetch-depth: 0`"
        )
    _require_own_branches(repository, environment)
    nowhere = why_unavailable(repository)
    if nowhere is not None:
        raise ExternalError(
            f"{nowhere}; gates and baseline of a change are read from its base's commit. Check the repository out "
            "into the workspace itself, without `path:`, with `fetch-depth: 0`"
        )
    commit = commit_of(repository, event.base) or fetch_commit(repository, event.base)
    if commit is None:
        raise ExternalError(
            f"the base commit {event.base[:7]} is not in this checkout and cannot be fetched; gates and baseline "
            "are read from there. Check out with `fetch-depth: 0`"
        )
    return commit
