"""Which commit a change would be merged into, and what that commit's settings say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runevals.git import commit_of, file_at, merge_base
from runevals.github.events import base_commit, is_change
from runevals.settings import repository_root
from runevals.settings_file import BaseSide, base_settings_file


def base_side(cwd: Path, environment: Mapping[str, str], ref: str | None, config: str | None) -> BaseSide | None:
    """The side that decides over a change: of `ref` where it is given, else of the pull request's event.

    None where nothing says that this is a change. Raises InvalidSettings for a ref that git does not know,
    InvalidSuite for a settings file of the base that is broken.
    """
    change = is_change(environment)
    if ref is not None:
        commit: str | None = merge_base(cwd, ref)
    elif change:
        named = base_commit(environment)
        commit = None if named is None else commit_of(cwd, named)
    else:
        return None
    if commit is None:
        return BaseSide(commit=None, on_pull_request=change)
    repository, known = repository_root(cwd), commit
    file = base_settings_file(cwd, repository, config, lambda path: file_at(repository, known, path))
    return BaseSide(commit=commit, file=file, on_pull_request=change)
