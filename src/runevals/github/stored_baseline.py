"""The base's result from the artifacts of earlier runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from runevals.github.api import Api, Refused, understood
from runevals.github.job import OnGitHub
from runevals.github.stored import (
    MOST_COMMITS,
    NotStored,
    StoredRun,
    Unreadable,
    Wanted,
    merge_base,
    results_text,
    runs,
)
from runevals.lib import git
from runevals.lib.text.numbers import plural
from runevals.records import RunReport
from runevals.records.errors import InvalidDocument
from runevals.reports import results_document as document
from runevals.run.baseline.from_files import narrowed
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.baseline.unmeasured import measured_too_little, unmeasured_cases, why_unmeasured
from runevals.run.measurement import Baseline
from runevals.settings.resolve import Settings

MOST_REASONS = 3
MOST_READ = 4  # documents, until one without errored cases is found
MOST_REFUSED = 2  # downloads; then no other artifact can be downloaded either

Found = tuple[StoredRun, RunReport]


def stored_base(settings: Settings, here: OnGitHub) -> StoredBase:
    """The nearest usable result of the base. Never raises for what GitHub does: then it is unreadable."""
    if settings.origins["baseline"] != "default" or here.job.branch is None:
        return StoredBase()
    commit = _commit(settings, here)
    if settings.base == "run" and commit is not None:
        return StoredBase(commit=commit)
    if here.api is None:
        return _unreadable(commit, ["there is no github_token to look for one with"])
    if not here.workflow:
        return _unreadable(commit, ["GITHUB_WORKFLOW_REF does not say whose runs to look at"])
    return _nearest(here.api, _wanted(settings, here, commit), settings)


def _wanted(settings: Settings, here: OnGitHub, commit: str | None) -> Wanted:
    return Wanted(
        repository=here.repository,
        workflow=here.workflow,
        artifact=here.artifact,
        commit=commit,
        before=() if commit is None else git.commits_before(settings.repository, commit, MOST_COMMITS),
        branch=here.job.branch if settings.baseline_branch == "auto" else settings.baseline_branch,
        not_run=here.run,
    )


def _commit(settings: Settings, here: OnGitHub) -> str | None:
    """What the change is compared with: where it left its base, unless it is already merged into that."""
    base, head = here.job.base, here.job.head
    if base is None or head is None or not here.job.forked:
        return base
    common = git.common_ancestor(settings.repository, base)
    if common is None and here.api is not None:
        common = merge_base(here.api, here.repository, base, head)
    return common or base


def _nearest(api: Api, wanted: Wanted, settings: Settings) -> StoredBase:
    """The nearest result without errored cases, else the nearest with some."""
    unreadable: list[str] = []
    found: Found | None = None
    for each in islice(_readable(api, wanted, unreadable), MOST_READ):
        whole = not unmeasured_cases(each[1])
        found = each if whole or found is None else found
        if whole:
            break
    if found is None:
        return _unreadable(wanted.commit, unreadable) if unreadable else _never_stored(wanted)
    run, report = found
    baseline = Baseline(report=report, source=_source(run, report), older=_older(run, wanted))
    errors = why_unmeasured(report)
    unmeasured = () if errors is None else (f"the base's run could not measure {errors}",)
    notices = (*unreadable[:MOST_REASONS], *unmeasured)
    return StoredBase(
        baseline=narrowed(baseline, settings),
        notices=notices,
        run_id=run.id,
        commit=wanted.commit,
        of_commit=run.commit,
    )


def _readable(api: Api, wanted: Wanted, unreadable: list[str]) -> Iterator[Found]:
    """The results that can be compared with, nearest first; why others cannot is added to `unreadable`."""
    tried: set[int] = set()
    refused = 0
    for run in _runs(api, wanted, unreadable):
        if refused == MOST_REFUSED:
            return
        if run.id in tried:
            continue
        tried.add(run.id)
        try:
            with understood():
                report = _measured(results_text(api, wanted.repository, run.id, wanted.artifact))
        except (Unreadable, InvalidDocument, Refused) as problem:
            refused += isinstance(problem, Refused)
            unreadable.append(f"the result of run {run.number} ({run.commit[:7]}): {problem}")
        except NotStored:
            continue
        else:
            yield run, report


def _runs(api: Api, wanted: Wanted, unreadable: list[str]) -> Iterator[StoredRun]:
    """As `runs`; a list that GitHub does not give ends them, as it would give no other either."""
    try:
        with understood():
            yield from runs(api, wanted)
    except Refused as refused:
        unreadable.append(str(refused))


def _measured(text: str) -> RunReport:
    """The report of a document. Raises Unreadable if it measured too little, InvalidDocument."""
    report = document.parse(text, "its result").report
    why = measured_too_little(report)
    if not report.complete or why is not None:
        raise Unreadable(why or "it is not complete")
    return report


def _source(run: StoredRun, report: RunReport) -> str:
    return f"run {run.number} on {run.branch}, {run.commit[:7]}, {report.run.started_at:%Y-%m-%d %H:%M} UTC"


def _older(run: StoredRun, wanted: Wanted) -> str | None:
    """In words: which commit before the wanted one a run is of; None if it is the one, or none is wanted."""
    if run.behind == 0 or wanted.commit is None:
        return None
    of = f"the newest of {run.branch}" if run.behind is None else f"{plural(run.behind, 'commit')} before the base"
    return f"{run.commit[:7]}, {of}"


def _unreadable(commit: str | None, reasons: list[str]) -> StoredBase:
    return StoredBase(commit=commit, unreadable="; ".join(reasons[:MOST_REASONS]))


def _never_stored(wanted: Wanted) -> StoredBase:
    of = "" if wanted.commit is None else f"{wanted.commit[:7]}, the commits before it or "
    notice = (
        f"no baseline yet: no run of {of}{wanted.branch} has stored {wanted.artifact}; "
        f"the first run on {wanted.branch} after merging stores one"
    )
    return StoredBase(commit=wanted.commit, notices=(notice,))
