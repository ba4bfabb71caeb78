"""`changed_only: cases`: which cases a change affects. The others keep the base's result.

A case is affected unless all that its answers depend on is known to be as it was in the base: what every case
depends on, what its suite says of it, and the content of the files that it names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import grouped
from runevals.lib.text.numbers import phrase, plural, short_list
from runevals.records import BaseResult, Case, CaseReport, RunReport, Suite
from runevals.records.errors import RunevalsError
from runevals.repository.git import commit_of
from runevals.repository.git_changes import Changes, PathsRead
from runevals.repository.trees import CannotFollow
from runevals.run.baseline.checkout import base_checkout, base_suites
from runevals.run.baseline.dependencies import (
    asked_otherwise,
    folders_of,
    named_changes,
    paths_inside,
    read_by_all,
    unknown_files,
)
from runevals.run.default_target import with_target
from runevals.run.load import load_request
from runevals.run.request import RunRequest
from runevals.settings.resolve import Settings
from runevals.suites.load import LoadedSuites, prompted_suites
from runevals.suites.selection import is_selected

Key = tuple[str, str]  # suite and key of a case
_WHOLE_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")  # the name of a commit that is of no other


def keeping(request: RunRequest, base: RunReport) -> RunRequest:
    """The request with the results of the base that its unaffected cases keep, and a notice of which are run."""
    try:
        commit = _commit_of(base, request.settings)
        results = _results(request, base, commit)
        whys = _whys(request, results, commit)
    except (CannotFollow, RunevalsError) as why:
        return request.noting(f"changed_only: every case is run: {str(why).splitlines()[0]}")
    reused = {key: results[key] for key, why in whys.items() if why is None}
    others = phrase(reused, f"; the others keep the result of {commit[:7]}")
    total = f"{len(whys) - len(reused)} of {plural(len(whys), 'case')}"
    reasons = grouped((why, key) for (_, key), why in whys.items() if why is not None)
    ran = "".join(f" – {why}: {short_list(keys)}" for why, keys in reasons.items())
    return replace(request, base_results=reused).noting(f"changed_only: {total} run{ran}{others}")


def _results(request: RunRequest, base: RunReport, commit: str) -> Mapping[Key, CaseReport]:
    """The base's results as those of this run."""
    origin, quarantined = BaseResult(commit=commit, measured_at=base.run.started_at), request.suites.quarantined
    return {
        key: replace(case, base_result=case.base_result or origin, quarantined=key in quarantined)
        for case in base.cases
        for key in [(case.suite, case.key)]
    }


def _commit_of(base: RunReport, settings: Settings) -> str:
    """The commit of the base's result. Raises CannotFollow if nothing that is known can stand for this run."""
    commit = commit_of(settings.repository, base.run.commit)
    if commit is None or base.run.uncommitted:
        raise CannotFollow("the base's result does not say of which commit here it is")
    if why := unknown_files(settings) or asked_otherwise(settings, base):
        raise CannotFollow(why)
    return commit


class _Side(Struct, frozen=True):
    """A case in one checkout, with its suite."""

    case: Case
    suite: Suite
    root: Path

    @property
    def content(self) -> Case:
        """All that the suite says of it, wherever the checkout is."""
        case = self.case
        workspace = case.workspace
        if workspace is not None:
            workspace = replace(workspace, folder=self._place(workspace.folder), repository=None)
        return replace(
            case,
            cwd=self._place(case.cwd),
            files={name: self._place(path) for name, path in case.files.items()},
            workspace=workspace,
        )

    def _place(self, path: Path | None) -> Path | None:
        return path.relative_to(self.root) if path is not None and path.is_relative_to(self.root) else path

    @property
    def moves(self) -> bool:
        """Whether its workspace is of a commit by a name that may move."""
        commit = None if self.case.workspace is None else self.case.workspace.commit
        return commit is not None and not _WHOLE_HASH.fullmatch(commit)

    @property
    def read(self) -> PathsRead:
        """The files and folders that the case or its suite names. Raises CannotFollow."""
        case, suite = self.case, self.suite
        folders = (suite.skill, None if case.workspace is None else case.workspace.folder)
        required = () if suite.requires is None else (self.root / name for name in suite.requires.files)
        paths = (*suite.files, *case.files.values(), *folders, *folders_of(self.root, (case,)), *required)
        return paths_inside(self.root, paths=filter(None, paths), links=filter(None, (case.cwd,)))


def _whys(request: RunRequest, results: Mapping[Key, CaseReport], commit: str) -> Mapping[Key, str | None]:
    """Why each case is affected; None for one that is not. Raises CannotFollow, RunevalsError."""
    settings = request.settings
    changes = Changes(settings.repository, commit)
    if why := named_changes(commit, changes.among(read_by_all(settings, LoadedSuites(suites=())))):
        raise CannotFollow(why)
    oldest = datetime.now(UTC) - timedelta(days=settings.rules.regression.max_base_age_days)
    with base_checkout(settings, commit, request.raw) as there:
        loaded = base_suites(there, settings, commit)
        before = _sides(loaded, with_target(there, loaded.suites))
    return {
        key: _why(now, before.get(key), results.get(key), oldest, changes)
        for key, now in _sides(request.suites, settings).items()
        if is_selected(now.case, settings.selection)
    }


def _why(
    now: _Side, was: _Side | None, result: CaseReport | None, oldest: datetime, changes: Changes
) -> str | None:
    """Why the result of the base cannot stand for a case; `was` is the case in the base."""
    if was is None or result is None:
        return "new"
    reasons = {
        "edited": was.content != replace(now.content, location=was.case.location),
        "reads what no commit contains": result.fetched or now.moves,
        "not measured in the base": result.unmeasured,
        "measured too long ago": result.base_result is not None and result.base_result.measured_at < oldest,
    }
    return next(filter(reasons.get, reasons), None) or ("its files changed" if changes.among(now.read) else None)


def _sides(loaded: LoadedSuites, settings: Settings) -> Mapping[Key, _Side]:
    suites = prompted_suites(loaded.suites, load_request(settings))
    return {
        (case.suite, case.key): _Side(case, suite, settings.repository) for suite in suites for case in suite.cases
    }
