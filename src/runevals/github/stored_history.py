"""The results that the newest runs of a branch stored as artifacts, for their history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from runevals.github.api import Api, github_shape_errors
from runevals.github.job import ARTIFACTS
from runevals.github.stored import MOST_LISTED, READ_RUNS, NotStored, among_many, is_trusted, results_texts
from runevals.github.this_job import api_of
from runevals.records import Conclusion
from runevals.records.errors import InvalidDocument, InvalidSettings
from runevals.reports.results_document import parse

MOST_PROJECTS = 50  # documents of one artifact
MOST_UNREADABLE = 20


def api_here(environment: Mapping[str, str]) -> tuple[Api, str]:
    """GitHub's API and the repository, by the variables of a job. Raises InvalidSettings."""
    api = api_of(environment, environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN", ""))
    if api is None:
        raise InvalidSettings(
            "--from artifacts needs GITHUB_REPOSITORY (OWNER/NAME) and GITHUB_TOKEN, which may read actions"
        )
    return api, environment["GITHUB_REPOSITORY"]


def stored_history(
    api: Api, repository: str, branch: str, most: int, notify: Callable[[str], None]
) -> Iterator[tuple[str, Conclusion]]:
    """(name, result) of the newest `most` artifacts that trusted runs of the branch stored. Raises GitHubRefused.

    Unreadable ones are skipped, and `notify` is told why.
    """
    left = most
    with github_shape_errors():
        for run, artifact in islice(_stored(api, repository, branch), MOST_UNREADABLE + most):
            try:
                texts = results_texts(api, repository, run, artifact, MOST_PROJECTS)
                results = [(f"{artifact} of run {run}", parse(text, artifact)) for text in texts]
            except (NotStored, InvalidDocument) as problem:
                notify(f"skipped {artifact} of run {run}: {problem}")
                continue
            yield from results
            left -= 1
            if not left:
                return


def _stored(api: Api, repository: str, branch: str) -> Iterator[tuple[int, str]]:
    """(run, artifact), the newest first; a pull request's code is not trusted, nor is a fork's."""
    path, trusted = f"/repos/{repository}/actions", dict[int, bool]()

    def is_of_branch(item: Any) -> bool:
        run = item.get("workflow_run") or {}
        ours = run.get("head_repository_id") == run.get("repository_id") and run.get("head_branch") == branch
        return ours and not item["expired"] and item["name"].startswith(ARTIFACTS)

    artifacts = api.items(f"{path}/artifacts", READ_RUNS, "artifacts")
    for item in islice(among_many(artifacts, is_of_branch), MOST_LISTED):
        run = item["workflow_run"]
        if run["id"] not in trusted:
            trusted[run["id"]] = is_trusted(api.get(f"{path}/runs/{run['id']}", READ_RUNS))
        if trusted[run["id"]]:
            yield run["id"], item["name"]
