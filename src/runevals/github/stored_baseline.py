"""The base's result from the artifacts of earlier runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from msgspec.structs import replace

from runevals.github import stored
from runevals.github.api import Api, GitHubRefused, github_shape_errors
from runevals.github.job import JobContext
from runevals.lib.text.numbers import plural
from runevals.records import RunReport
from runevals.records.errors import InvalidDocument, RunevalsError
from runevals.reports import results_document as document
from runevals.repository import git
from runevals.run.baseline.checkout import base_settings
from runevals.run.baseline.dependencies import other_models
from runevals.run.baseline.from_files import require_whole
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.baseline.unmeasured import measured_too_little, unmeasured_cases, why_unmeasured
from runevals.settings.resolve import RawSettings, Settings
from runevals.verdict.outcome import Baseline

MOST_REASONS = 3
MOST_READ = 4  # documents, until one without errored cases is found
MOST_REFUSED = 2  # downloads; then no other artifact can be downloaded either
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 20.0  # between looks at a run that is in progress

RunWithReport = tuple[stored.StoredRun, RunReport]


def stored_base(
    settings: Settings, raw: RawSettings, here: JobContext, notify: Callable[[str], None]
) -> StoredBase:
    """The nearest usable result of the base. Never raises for an error of GitHub: then it is unreadable.

    `notify` is called with what is waited for.
    """
    if settings.origins["baseline"] != "default" or here.job.branch is None:
        return StoredBase()
    commit = _commit(settings, here)
    if settings.compare.base == "run" and commit is not None:
        return StoredBase(commit=commit)
    if here.api is None:
        return _unreadable(commit, ["there is no github_token to look for one with"])
    of_base = _asked_of_base(settings, raw)
    query = replace(here.query(settings.github, commit), runs_base=here.job.head is not None or not here.workflow)
    if commit is not None:
        query = replace(query, before=git.commits_before(settings.repository, commit, stored.MOST_COMMITS))
    return _Search(here.api, query, settings, of_base, notify).result()


def _asked_of_base(settings: Settings, raw: RawSettings) -> Settings:
    """The settings of the base's runs: the base's own, with this job's inputs."""
    side = settings.base_side if settings.target_name is None else raw.base_side  # by the name, as in `raw`
    if side is None or side.file is None:
        return settings
    try:
        return base_settings(replace(raw, base_side=None, of_base=True), settings, side.file)
    except RunevalsError:
        return settings


def _commit(settings: Settings, here: JobContext) -> str | None:
    """The commit to compare the change with: where it left its base, unless it is already merged into that."""
    base, head = here.job.base, here.job.head
    if base is None or head is None or not here.job.forked:
        return base
    common = git.common_ancestor(settings.repository, base)
    if common is None and here.api is not None:
        common = stored.merge_base(here.api, here.repository, base, head)
    return common or base


class _Search:
    """Searches runs for the base's result, and waits for its own run if only that is missing."""

    def __init__(
        self,
        api: Api,
        query: stored.StoredQuery,
        settings: Settings,
        of_base: Settings,
        notify: Callable[[str], None],
    ) -> None:
        self._api, self._query, self._settings, self._notify = api, query, settings, notify
        self._of_base = of_base
        self._default_tip: str | None = None  # of the default branch, once it is requested
        self._run_ids: dict[str, int] = {}
        self._refused = False  # GitHub does not list the runs

    def result(self) -> StoredBase:
        """The nearest result; `later` may find a nearer one."""
        result = self._nearest()
        return result if self._refused else replace(result, later=partial(self._later, result))

    def _nearest(self) -> StoredBase:
        """The nearest result by the base's target and judge and without errored cases, else the next best."""
        query, unreadable = self._query, list[str]()
        result = self._best(self._readable(unreadable))
        if result is None:
            return _unreadable(query.commit, unreadable) if unreadable else _never_stored(query)
        run, report = result
        at = f"{report.run.started_at:%Y-%m-%d %H:%M} UTC"
        source = f"{run.title} on {run.branch}, {_commit_of(run, report)[:7]}, {at}"
        baseline = Baseline(report=report, source=source, older=_older(run, report, query))
        self._run_ids[source] = run.id
        errors = why_unmeasured(report)
        unmeasured = () if errors is None else (f"the stored run {run.number} could not measure {errors}",)
        return StoredBase(
            baseline=baseline,
            notices=(*unreadable[:MOST_REASONS], *unmeasured),
            run_ids=self._run_ids,
            commit=query.commit,
            of_commit=_commit_of(run, report),
            other_branch=run.behind is None and run.branch != query.branch and not self._is_before(run),
        )

    def _best(self, readable: Iterator[RunWithReport]) -> RunWithReport | None:
        """A manual run may have used another model than the base's settings name: it comes last."""
        best, best_rank = None, (-1, -1)
        for result in islice(readable, MOST_READ):
            report = result[1]
            rank = int(other_models(self._of_base, report) is None), int(not unmeasured_cases(report))
            if rank > best_rank:
                best, best_rank = result, rank
            if rank == (1, 1):
                break
        return best

    def _readable(self, unreadable: list[str]) -> Iterator[RunWithReport]:
        """The results that can be compared with, nearest first; problems are added to `unreadable`."""
        tried: set[int] = set()
        refused = 0
        for run in self._runs(unreadable):
            if refused == MOST_REFUSED:
                return
            if run.id in tried:
                continue
            tried.add(run.id)
            try:
                with github_shape_errors():
                    query = self._query
                    text = stored.results_text(self._api, query.repository, run.id, query.artifact, query.file)
                report = _measured(text)
                commit = report.run.commit
                stored.require_of_run(self._api, query.repository, self._settings.repository, commit, run)
            except (stored.UnreadableResult, InvalidDocument, GitHubRefused) as problem:
                refused += isinstance(problem, GitHubRefused)
                unreadable.append(f"the result of run {run.number} ({run.commit[:7]}): {problem}")
            except stored.NotStored:
                continue
            else:
                yield run, report

    def _runs(self, unreadable: list[str]) -> Iterator[stored.StoredRun]:
        """As `runs`, but ends if GitHub refuses a list, as it would refuse the others too."""
        try:
            with github_shape_errors():
                for run in stored.runs(self._api, self._query):
                    if run.behind is not None or self._is_before(run) or self._is_of_default(run):
                        yield run
                    else:
                        unreadable.append(f"run {run.number} is of {run.commit[:7]}, which is not before the base")
        except GitHubRefused as refused:
            self._refused = True
            unreadable.append(str(refused))

    def _is_before(self, run: stored.StoredRun) -> bool:
        """Whether the base has the commit of a run in its history."""
        repository = self._settings.repository
        tip = self._query.commit or self._settings.head.commit
        return stored.is_before(self._api, self._query.repository, repository, run.commit, tip)

    def _is_of_default(self, run: stored.StoredRun) -> bool:
        """Whether a run is of the default branch, which replaces a branch without a result."""
        query, repository = self._query, self._settings.repository
        if run.behind is not None or query.branch == query.default_branch or run.branch != query.default_branch:
            return False
        if self._default_tip is None:
            self._default_tip = stored.tip_of(self._api, query.repository, run.branch)
        return stored.is_before(self._api, query.repository, repository, run.commit, self._default_tip)

    def _later(self, result: StoredBase) -> StoredBase:
        """The result after the base's own run has ended; `result` if none is in progress."""
        try:
            with github_shape_errors():
                files = stored.storing_files(self._api, self._query)
                if stored.unfinished(self._api, self._query, files) is None:
                    return result
                why = self._awaited(files)
        except GitHubRefused as refused:
            why = str(refused)
        return self._nearest() if why is None else _lacking(result, why)

    def _awaited(self, files: Sequence[str]) -> str | None:
        """Waits for a run of the base's commit; why its result is still missing, or None. Raises GitHubRefused."""
        longest_s = self._settings.measure.limits.duration_s
        wait_s = min(self._settings.github.baseline_wait, math.inf if longest_s is None else longest_s / 2)
        ends_at, pause_s = time.monotonic() + wait_s, FIRST_PAUSE_S
        waiting = False
        while (run := stored.unfinished(self._api, self._query, files)) is not None:
            name = f"{run.title} of the base {run.commit[:7]}"
            left_s = ends_at - time.monotonic()
            if left_s <= 0:
                return f"{name} is still in progress after {wait_s:g} s"
            if not waiting:
                self._notify(f"Waiting for {name}, which is in progress: {left_s:.0f} s at most")
            waiting = True
            time.sleep(min(pause_s, left_s))
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        return None


def _lacking(base: StoredBase, why: str) -> StoredBase:
    """The base, with the reason why a nearer one is missing."""
    if base.baseline is not None:
        return replace(base, notices=(*base.notices, why))
    return replace(base, notices=(), unreadable="; ".join(filter(None, (base.unreadable, why))))


def _measured(text: str) -> RunReport:
    """The report of a document. Raises Unreadable if it measured too little, InvalidDocument."""
    report = document.parse(text, "its result").report
    why = measured_too_little(report)
    if not report.complete or why is not None:
        raise stored.UnreadableResult(why or "it is not complete")
    require_whole(report, "its result")
    return report


def _commit_of(run: stored.StoredRun, report: RunReport) -> str:
    """The commit that was measured; a run may have reused the result of an older one, or checked it out."""
    return report.run.commit or run.commit


def _older(run: stored.StoredRun, report: RunReport, query: stored.StoredQuery) -> str | None:
    """The age of a run's commit before the query's, for messages; None if it is that commit, or there is none."""
    commit = _commit_of(run, report)
    if query.commit in (None, commit):
        return None
    if commit != run.commit:
        return f"{commit[:7]}, measured by a run of {run.commit[:7]}"
    of = f"the newest of {run.branch}" if run.behind is None else f"{plural(run.behind, 'commit')} before the base"
    if run.branch != query.branch and run.behind is None:
        of += f", as {query.branch} has none"
    return f"{run.commit[:7]}, {of}"


def _unreadable(commit: str | None, reasons: list[str]) -> StoredBase:
    return StoredBase(commit=commit, unreadable="; ".join(reasons[:MOST_REASONS]))


def _never_stored(query: stored.StoredQuery) -> StoredBase:
    of = "" if query.commit is None else f"{query.commit[:7]}, the commits before it or "
    whose = "" if query.others else f"{query.workflow} of "
    why = (
        f"no run of {whose}{of}{query.branch} has stored {query.artifact}; "
        f"the first run on {query.branch} after merging stores one"
    )
    if query.runs_base:
        return StoredBase(commit=query.commit, never_stored=why)
    return StoredBase(commit=query.commit, notices=(f"no baseline yet: {why}",))
