"""The run of a mark from the artifacts of earlier runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from runevals.github import stored
from runevals.github.api import Api, GitHubRefused, github_shape_errors
from runevals.github.job import JobContext
from runevals.records import Mark
from runevals.records.errors import InvalidDocument
from runevals.reports import results_document as document
from runevals.repository import git
from runevals.run.baseline.from_files import require_whole
from runevals.run.baseline.marks import Candidate, Key, MarkFound, chosen_mark
from runevals.settings.resolve import Settings

MOST_READ = 10  # runs


def stored_mark(settings: Settings, here: JobContext, mark: Mark, planned: frozenset[Key]) -> MarkFound:
    """The stored results of the base's branch, newest first. Never raises for an error of GitHub."""
    query = here.query(settings.github, None)
    if here.api is None or not query.workflow:
        return MarkFound(notices=(f"no mark: nothing says where to look for {mark}; it needs a github_token",))
    if query.branch is None and mark.tag is None:
        return MarkFound(notices=(f"no mark: nothing says of which branch {mark} is",))
    try:
        with github_shape_errors():
            commit = None if mark.tag is None else _commit_of(settings, here.api, here.repository, mark.tag)
            runs = _runs(settings, here.api, query, mark, commit)
            return chosen_mark(settings, mark, _read(settings, here.api, query, runs), planned, commit)
    except GitHubRefused as refused:
        return MarkFound(notices=(f"no mark: {refused}",))


def _commit_of(settings: Settings, api: Api, repository: str, tag: str) -> str:
    """The commit of a tag, which a checkout may lack. Raises GitHubRefused if there is none."""
    ref = f"refs/tags/{tag}"
    known = git.commit_of(settings.repository, ref)
    if known is not None:
        return known
    commits = api.get(f"/repos/{repository}/commits", stored.READ_COMMITS, sha=ref, per_page=1)
    if not commits:
        raise GitHubRefused(f"GitHub knows no commit of {tag}")
    return str(commits[0]["sha"])


def _runs(
    settings: Settings, api: Api, query: stored.StoredQuery, mark: Mark, commit: str | None
) -> Iterator[stored.StoredRun]:
    """Runs of the tag's commit; else of the branch, as far as the base has their commits in its history."""
    until = datetime.now(UTC) - timedelta(days=mark.days or 0)
    side, root = settings.base_side, settings.repository
    tip = settings.head.commit if side is None else side.commit
    for run in stored.newest(api, query, MOST_READ, until=until, commit=commit):
        if commit is not None or stored.is_before(api, query.repository, root, run.commit, tip):
            yield run


def _read(
    settings: Settings, api: Api, query: stored.StoredQuery, runs: Iterable[stored.StoredRun]
) -> Iterator[Candidate]:
    for run in runs:
        try:
            text = stored.results_text(api, query.repository, run.id, query.artifact, query.file)
            report = document.parse(text, "its result").report
            require_whole(report, "its result")
            stored.require_of_run(api, query.repository, settings.repository, report.run.commit, run)
        except (stored.NotStored, InvalidDocument):
            continue
        began = f"{report.run.started_at:%Y-%m-%d %H:%M} UTC"
        yield f"run {run.number} on {run.branch}, {run.commit[:7]}, {began}", report
