"""The base's result from the artifacts of earlier runs."""

from __future__ import annotations

from dataclasses import replace

from runevals.github.api import Api, Refused, understood
from runevals.github.job import OnGitHub
from runevals.github.stored import MOST_COMMITS, NotStored, StoredRun, Wanted, merge_base, results_text, runs
from runevals.lib import git
from runevals.lib.text.numbers import plural
from runevals.records import RunReport
from runevals.records.errors import InvalidDocument
from runevals.reports import results_document as document
from runevals.run.baseline.from_files import narrowed
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.measurement import Baseline
from runevals.settings.resolve import Settings

MOST_REASONS = 3


def stored_base(settings: Settings, here: OnGitHub) -> StoredBase:
    """The nearest usable result of the base. Never raises for what GitHub does: then there is no baseline."""
    if settings.origins["baseline"] != "default" or here.job.branch is None:
        return StoredBase()
    if here.api is None:
        return StoredBase(notices=("no baseline: there is no github_token to look for one with",))
    if not here.workflow:
        return StoredBase(notices=("no baseline: GITHUB_WORKFLOW_REF does not say whose runs to look at",))
    try:
        with understood():
            found = _nearest(here.api, _wanted(settings, here, here.api))
    except Refused as refused:
        return StoredBase(notices=(f"no baseline: {refused}",))
    if found.baseline is None:
        return found
    return replace(found, baseline=narrowed(found.baseline, settings))


def _wanted(settings: Settings, here: OnGitHub, api: Api) -> Wanted:
    commit = _commit(settings, here, api)
    return Wanted(
        repository=here.repository,
        workflow=here.workflow,
        artifact=here.artifact,
        commit=commit,
        before=() if commit is None else git.commits_before(settings.repository, commit, MOST_COMMITS),
        branch=here.job.branch if settings.baseline_branch == "auto" else settings.baseline_branch,
        not_run=here.run,
    )


def _commit(settings: Settings, here: OnGitHub, api: Api) -> str | None:
    """What the change is compared with: where it left its base, unless it is already merged into that."""
    base, head = here.job.base, here.job.head
    if base is None or head is None or not here.job.forked:
        return base
    return git.common_ancestor(settings.repository, base) or merge_base(api, here.repository, base, head) or base


def _nearest(api: Api, wanted: Wanted) -> StoredBase:
    reasons: list[str] = []
    tried: set[int] = set()
    for run in runs(api, wanted):
        if run.id in tried:
            continue
        tried.add(run.id)
        try:
            report = _measured(results_text(api, wanted.repository, run.id, wanted.artifact))
        except (NotStored, InvalidDocument) as problem:
            reasons.append(f"the result of run {run.number} ({run.commit[:7]}): {problem}")
            continue
        return StoredBase(baseline=Baseline(report=report, source=_source(run, report)), run_id=run.id)
    return StoredBase(notices=(_nothing(wanted, reasons),))


def _measured(text: str) -> RunReport:
    report = document.parse(text, "its result").report
    if not report.complete or not any(case.values for case in report.cases):
        raise NotStored("it measured nothing")
    return report


def _source(run: StoredRun, report: RunReport) -> str:
    told = f"run {run.number} on {run.branch}, {run.commit[:7]}, {report.run.started_at:%Y-%m-%d %H:%M} UTC"
    if run.behind == 0:
        return told
    if run.behind is None:
        return f"{told}, approximate: the newest of its branch"
    return f"{told}, approximate: {plural(run.behind, 'commit')} before the base"


def _nothing(wanted: Wanted, reasons: list[str]) -> str:
    if reasons:
        return f"no baseline: {'; '.join(reasons[:MOST_REASONS])}"
    of = "" if wanted.commit is None else f"{wanted.commit[:7]}, the commits before it or "
    return (
        f"no baseline yet: no run of {of}{wanted.branch} has stored {wanted.artifact}; "
        f"the first run on {wanted.branch} after merging stores one"
    )
