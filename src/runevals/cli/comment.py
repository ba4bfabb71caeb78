"""`runevals comment`: results of another run → the comment on its pull request; nothing is executed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from runevals.cli import finish
from runevals.cli.terminal import warn_runner
from runevals.github.api import GitHubRefused, github_shape_errors
from runevals.github.comments import Comments, marker, unverified_marker
from runevals.github.events import DEPENDABOT, Job
from runevals.github.job import ARTIFACTS, on_github
from runevals.github.post_comment import Unverified, posting, posting_unverified
from runevals.github.stored import NotStored, artifact_names, results_texts
from runevals.gitlab.notes import MergeRequest, put_note
from runevals.lib.terminal import say
from runevals.records.errors import InvalidDocument, InvalidSettings
from runevals.reports import comment, unverified_comment
from runevals.reports.results_document import parse, read_conclusion
from runevals.run.project_folders import MOST_PROJECTS
from runevals.settings.resolve import defaults

if TYPE_CHECKING:
    from runevals.github.api import Api
    from runevals.github.job import JobContext
    from runevals.records import Conclusion, RunReport
    from runevals.settings.resolve import Settings
    from runevals.settings.stages import GithubSettings

MOST_ARTIFACTS = 5


@click.command("comment")
@click.argument("document", type=click.Path(path_type=Path))
@click.option("--pull-request", type=click.IntRange(min=1), metavar="N", help="Its number.")
@click.option("--comment-id", metavar="TEXT", help="What distinguishes this comment from other runevals comments.")
@click.option("--trusted", is_flag=True, help="The document is of your own run: show its complete text.")
@click.option("--gitlab", "on_gitlab", is_flag=True, help="Write on this job's merge request on GitLab.")
def command(
    document: Path, pull_request: int | None, comment_id: str | None, *, trusted: bool, on_gitlab: bool
) -> None:
    """Post the results DOCUMENT as a comment on a pull request, or update an existing comment.

    Needs GITHUB_TOKEN and GITHUB_REPOSITORY; with --gitlab, GITLAB_TOKEN and the job's variables.
    Without --trusted, a document is taken for that of a fork: the comment says so, counts its cases, and shows no
    text of it.

    \b
    Examples:
      runevals comment results.json --pull-request 7
      runevals comment results.json --gitlab --trusted
    """
    conclusion = read_conclusion(document)
    if on_gitlab:
        say(_note(conclusion, MergeRequest.of_job(os.environ, pull_request), comment_id, trusted=trusted))
        finish(0)
    if pull_request is None:
        raise click.UsageError("Missing option '--pull-request'.")
    settings = replace(defaults().github, comment_id=comment_id)
    here = on_github(os.environ, settings, Job(), os.environ.get("GITHUB_TOKEN", ""))
    if here.api is None:
        raise InvalidSettings("GITHUB_TOKEN and GITHUB_REPOSITORY must be set to comment")
    if trusted:
        head = conclusion.report.run.commit
        body = comment.render(conclusion, here.links(head), here.marker)
        posted = posting(body, [conclusion], here, "always", pull_request, head)
    else:
        unverified = Unverified(reports=[conclusion.report], comment_id=comment_id)
        posted = posting_unverified(unverified, here, "always", pull_request)
    if posted.problem:
        raise GitHubRefused(posted.problem)
    say(posted.url)
    finish(0)


def _note(conclusion: Conclusion, where: MergeRequest, comment_id: str | None, *, trusted: bool) -> str:
    """Puts the results on a merge request → the address of the note."""
    links = where.links(os.environ)
    if trusted:
        _require_of_this_commit(conclusion, links.head)
        mark = marker(comment_id or "results")
        return put_note(where, mark, comment.render(conclusion, links, mark))
    mark = unverified_marker(comment_id)
    return put_note(where, mark, unverified_comment.render([conclusion.report], links, mark, "the fork"))


def _require_of_this_commit(conclusion: Conclusion, head: str | None) -> None:
    """Raises InvalidDocument for results that a change may have committed: no commit contains its own name."""
    commit = conclusion.report.run.commit
    if head is not None and commit != head:
        of = "an unknown commit" if commit is None else f"the commit {commit[:7]}"
        raise InvalidDocument(f"the results are of {of}, not of this job's, {head[:7]}: they are not of its run")


def comment_on(settings: Settings, here: JobContext) -> int:
    """Posts the results of the run that the event names. Raises GitHubRefused, InvalidSettings."""
    if here.api is None or here.job.run is None:
        raise InvalidSettings("mode: comment needs github_token and the event workflow_run")
    with github_shape_errors():
        say(_commented(settings, here, here.api))
    return 0


def _commented(settings: Settings, here: JobContext, api: Api) -> str:
    """The message on what was done. Only data of GitHub itself decides where a comment goes."""
    run = api.get(f"/repos/{here.repository}/actions/runs/{here.job.run}", "actions: read")
    pull_request = _pull_request(api, here.repository, run)
    if pull_request is None:
        return "Nothing to do: this run comments by itself, or no open pull request has its commit as its head."
    if not _is_of_fork(run) and Comments(api, here.repository).has_one_of(pull_request, run["id"]):
        return "Nothing to do: this run has commented by itself."  # `permissions` let Dependabot's job write
    reports = list(_reports(settings.github, here, api, run["id"]))
    if not reports:
        return "Nothing to do: the run has no results that can be shown."
    unverified = Unverified(
        reports=reports,
        author="the fork" if _is_of_fork(run) else "Dependabot",
        head=run["head_sha"],
        comment_id=settings.github.comment_id or settings.github.baseline_artifact,
    )
    posted = posting_unverified(unverified, replace(here, run=run["id"]), settings.github.comment, pull_request)
    if posted.problem:
        raise GitHubRefused(posted.problem)
    return posted.url or f"No comment on #{pull_request} by comment: {settings.github.comment}."


def _reports(settings: GithubSettings, here: JobContext, api: Api, run: int) -> Iterator[RunReport]:
    """The results in the named artifact of the run, else in all of ours; the run chose their names and number."""
    artifact = settings.comment_id or settings.baseline_artifact
    names = [here.artifact] if artifact else artifact_names(api, here.repository, run, ARTIFACTS)
    if len(names) > MOST_ARTIFACTS:
        warn_runner(
            f"Run {run} has {len(names)} artifacts of runevals; the comment counts the first {MOST_ARTIFACTS}"
        )
    for name in names[:MOST_ARTIFACTS]:
        try:
            for text in results_texts(api, here.repository, run, name, MOST_PROJECTS):
                yield parse(text, "its result").report
        except (NotStored, InvalidDocument) as problem:
            warn_runner(f"The artifact {name} of run {run} cannot be shown: {problem}")


def _pull_request(api: Api, repository: str, run: Any) -> int | None:
    """The open pull request whose head this run measured, if that run could not comment itself."""
    source = run.get("head_repository")
    if run["event"] != "pull_request" or source is None:
        return None
    if not _is_of_fork(run) and (run.get("actor") or {}).get("login") != DEPENDABOT:
        return None
    head = f"{source['owner']['login']}:{run['head_branch']}"
    for pull in api.items(f"/repos/{repository}/pulls", "pull-requests: read", state="open", head=head):
        if pull["head"]["sha"] == run["head_sha"] and (pull["head"]["repo"] or {}).get("id") == source["id"]:
            return int(pull["number"])
    return None


def _is_of_fork(run: Any) -> bool:
    return bool(run["head_repository"]["id"] != run["repository"]["id"])
