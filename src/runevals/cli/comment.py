"""`runevals comment`: results that another run made → the comment on its pull request; nothing of it is run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runevals.cli import finish
from runevals.cli.terminal import warn_runner
from runevals.github.api import Refused, understood
from runevals.github.events import DEPENDABOT, Job
from runevals.github.job import ARTIFACTS, on_github
from runevals.github.post_comment import posting
from runevals.github.stored import NotStored, artifact_names, results_text
from runevals.lib.terminal import say
from runevals.records.errors import InvalidDocument, InvalidSettings
from runevals.reports.results_document import parse, read_conclusion
from runevals.settings.resolve import defaults

if TYPE_CHECKING:
    from runevals.github.api import Api
    from runevals.github.job import OnGitHub
    from runevals.records import Conclusion
    from runevals.settings.resolve import Settings

MOST_ARTIFACTS = 5
UNTRUSTED = "as the change's own run reports it, which its author controls"


@click.command("comment")
@click.argument("document", type=click.Path(path_type=Path))
@click.option("--pull-request", type=click.IntRange(min=1), required=True, metavar="N", help="Its number.")
@click.option("--comment-id", metavar="TEXT", help="What tells this comment from others of ours.")
def command(document: Path, pull_request: int, comment_id: str | None) -> None:
    """Put the results DOCUMENT on a pull request, as a comment, or change the one that is there.

    GITHUB_TOKEN and GITHUB_REPOSITORY say as whom and where.

    \b
    Example:
      runevals comment results.json --pull-request 7
    """
    conclusion = read_conclusion(document)
    settings = replace(defaults(), comment_id=comment_id)
    here = on_github(os.environ, settings, Job(), os.environ.get("GITHUB_TOKEN", ""))
    if here.api is None:
        raise InvalidSettings("GITHUB_TOKEN and GITHUB_REPOSITORY must say as whom and where to comment")
    posted = posting(conclusion, here, "always", pull_request, conclusion.report.run.commit)
    if posted.problem:
        raise Refused(posted.problem)
    say(posted.url)
    finish(0)


def comment_on(settings: Settings, here: OnGitHub) -> int:
    """Shows the results of the run that the event names on its pull request. Raises Refused, InvalidSettings."""
    if here.api is None or here.job.run is None:
        raise InvalidSettings("mode: comment needs github_token and the event workflow_run")
    with understood():
        for line in _commented(settings, here, here.api):
            say(line)
    return 0


def _commented(settings: Settings, here: OnGitHub, api: Api) -> Iterator[str]:
    """What was done, in lines. Only what GitHub itself says decides where a comment goes."""
    run = api.get(f"/repos/{here.repository}/actions/runs/{here.job.run}", "actions: read")
    pull_request = _pull_request(api, here.repository, run)
    if pull_request is None:
        yield "Nothing to do: this run comments by itself, or no open pull request has its commit as its head."
        return
    for name, comment_id in _artifacts(settings, here, api):
        try:
            text = results_text(api, here.repository, run["id"], name)
            conclusion = _reported(text)
        except (NotStored, InvalidDocument) as problem:
            warn_runner(f"The artifact {name} of run {run['id']} cannot be shown: {problem}")
            continue
        there = replace(here, run=run["id"], comment_id=comment_id)
        yield _posted(conclusion, there, settings, pull_request, run["head_sha"])


def _posted(conclusion: Conclusion, here: OnGitHub, settings: Settings, pull_request: int, head: str) -> str:
    posted = posting(conclusion, here, settings.comment, pull_request, head)
    if posted.problem:
        raise Refused(posted.problem)
    return posted.url or f"No comment on #{pull_request} by comment: {settings.comment}."


def _pull_request(api: Api, repository: str, run: Any) -> int | None:
    """The open pull request whose head this run measured, where that run could not comment by itself."""
    source = run.get("head_repository")
    if run["event"] != "pull_request" or source is None:
        return None
    if source["id"] == run["repository"]["id"] and (run.get("actor") or {}).get("login") != DEPENDABOT:
        return None
    head = f"{source['owner']['login']}:{run['head_branch']}"
    for pull in api.items(f"/repos/{repository}/pulls", "pull-requests: read", state="open", head=head):
        if pull["head"]["sha"] == run["head_sha"] and (pull["head"]["repo"] or {}).get("id") == source["id"]:
            return int(pull["number"])
    return None


def _artifacts(settings: Settings, here: OnGitHub, api: Api) -> Iterator[tuple[str, str]]:
    """(artifact, comment id) of the results to show: the named one, else all of ours."""
    if settings.comment_id or settings.baseline_artifact:
        yield here.artifact, here.comment_id
        return
    assert here.job.run is not None  # noqa: S101 - checked before anything was asked
    for name in artifact_names(api, here.repository, here.job.run, ARTIFACTS)[:MOST_ARTIFACTS]:
        yield name, name.removeprefix(ARTIFACTS)


def _reported(text: str) -> Conclusion:
    """What the document says, marked as what it is: a stranger's word."""
    conclusion = parse(text, "its result")
    run = conclusion.report.run
    return replace(
        conclusion,
        report=replace(conclusion.report, run=replace(run, notices=(UNTRUSTED, *run.notices))),
    )
