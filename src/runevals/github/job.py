"""The context of a job on GitHub: API, artifact name and links."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from runevals.github.api import Api
from runevals.github.comments import marker, slug
from runevals.github.events import Job
from runevals.github.job_id import automatic_id, leg_and_step
from runevals.github.stored import RESULTS, StoredQuery
from runevals.github.this_job import action_input, api_of, default_branch, payload_of
from runevals.records import Links
from runevals.records.errors import InvalidSettings
from runevals.records.rules import Shard
from runevals.settings.stages import GithubSettings

if TYPE_CHECKING:
    from runevals.run.tool_results import ResultsRequest

ARTIFACTS = "runevals-"  # the prefix of our artifacts
DEFAULT_SERVER = "https://github.com"
_SHA = re.compile(r"[0-9a-f]{7,64}")


class JobContext(Struct, frozen=True, kw_only=True):
    """One job. `api` None: the repository is unknown, or there is no token."""

    job: Job
    api: Api | None
    server: str
    repository: str
    workflow: str  # its file's name; empty for one of another repository, which a ruleset requires here
    run: int | None
    attempt: int = 1  # of that run
    default_branch: str | None = None
    comment_id: str
    artifact: str
    project: str = ""  # one of several, by its folder; their results are files of one artifact

    @property
    def results_file(self) -> str:
        """What the results document is called in the artifact."""
        return project_file(self.project, RESULTS) if self.project else RESULTS

    def query(self, settings: GithubSettings, commit: str | None) -> StoredQuery:
        """What asks for the results of this commit, or of its branch, that earlier runs stored."""
        auto, workflow = settings.baseline_branch == "auto", settings.baseline_workflow
        return StoredQuery(
            repository=self.repository,
            workflow=workflow or self.workflow,
            others=workflow is None,
            artifact=self.artifact,
            file=self.results_file,
            commit=commit,
            branch=self.job.branch if auto else settings.baseline_branch,
            default_branch=self.default_branch if auto else None,
            not_run=self.run,
        )

    @property
    def marker(self) -> str:
        """The beginning of our comment."""
        return marker(self.comment_id)

    def links(self, head: str | None) -> Links:
        """Links for readers of the run at this commit, which is not taken from a document."""
        head = head if head is not None and _SHA.fullmatch(head) else None
        if not self.repository:
            return Links(head=head)
        at = f"{self.server}/{self.repository}"
        return Links(
            files=None if head is None else f"{at}/blob/{head}/",
            run=None if self.run is None else f"{at}/actions/runs/{self.run}",
            head=head,
        )


def project_file(project: str, name: str) -> str:
    """The name of a project's file beside those of others."""
    return f"{slug('(root)' if project == '.' else project)}.{name}"


def results_of_job(inputs: Mapping[str, str], folder: Path) -> ResultsRequest:
    """Which results of another tool the workflow names, relative to this folder. Raises InvalidSettings."""
    from runevals.run.tool_results import ResultsRequest  # only `mode: gate` needs it

    names = action_input("results", inputs)
    if not isinstance(names, tuple) or not names:
        raise InvalidSettings("mode: gate needs `results`, the files that the other tool wrote")
    return ResultsRequest(
        paths=tuple(Path(os.path.relpath(folder / name)) for name in names),
        deterministic=cast("bool | None", action_input("deterministic", inputs)),
        parameters_are_attempts=bool(action_input("parameters_are_attempts", inputs)),
    )


def on_github(
    environment: Mapping[str, str], settings: GithubSettings, job: Job, token: str, shard: Shard | None = None
) -> JobContext:
    """The job as the runner's variables describe it."""
    repository = environment.get("GITHUB_REPOSITORY", "")
    part = None if shard is None else f"{shard.part}/{shard.of}"
    if settings.comment_id and not environment.get("INPUT_COMMENT_ID"):  # the settings file applies to all jobs
        comment_id = " ".join([settings.comment_id, *leg_and_step(environment, part)])
    else:
        comment_id = settings.comment_id or settings.baseline_artifact or automatic_id(environment, part)
    run, attempt = environment.get("GITHUB_RUN_ID", ""), environment.get("GITHUB_RUN_ATTEMPT", "")
    path = environment.get("GITHUB_WORKFLOW_REF", "").partition("@")[0]
    whole = settings.baseline_artifact or f"{ARTIFACTS}{slug(comment_id)}"
    return JobContext(
        job=job,
        api=api_of(environment, token),
        server=environment.get("GITHUB_SERVER_URL") or DEFAULT_SERVER,
        repository=repository,
        workflow=path.rpartition("/")[2] if path.startswith(f"{repository}/") else "",
        run=int(run) if run.isdecimal() else None,
        attempt=int(attempt) if attempt.isdecimal() else 1,
        default_branch=default_branch(payload_of(environment)),
        comment_id=comment_id,
        # A shard's artifact has its own name: it is neither shown nor used as a base.
        artifact=whole if shard is None else f"shard-{shard.part}-of-{shard.of}-{whole}",
    )
