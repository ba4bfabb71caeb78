"""The context of a job on GitHub: event, API, artifact name and links."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.github.api import PUBLIC_API, Api
from runevals.github.comments import marker, slug
from runevals.github.events import (
    Event,
    Job,
    deciding_commit,
    is_change,
    is_elsewhere,
    is_guarded,
    job_of,
    may_identify,
    value_at,
)
from runevals.github.job_id import automatic_id, leg_and_step
from runevals.github.stored import RESULTS, StoredQuery, merge_base
from runevals.lib.checkout import repository_root
from runevals.models.http.identity import REQUEST_TOKEN, REQUEST_URL
from runevals.records import Links
from runevals.records.errors import InvalidSettings
from runevals.records.rules import Shard
from runevals.repository import git
from runevals.run.baseline.protected_side import ChangeEvent
from runevals.settings.resolve import RawSettings, input_of
from runevals.settings.stages import GithubSettings
from runevals.settings.table import INPUTS

if TYPE_CHECKING:
    from runevals.run.tool_results import ResultsRequest

ARTIFACTS = "runevals-"  # the prefix of our artifacts
ALLOW_UNTRUSTED = "RUNEVALS_ALLOW_UNTRUSTED"
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


def job_here(environment: Mapping[str, str], workspace: Path, inputs: Mapping[str, str]) -> Job:
    """The job of the event that started it. Raises InvalidSettings."""
    mode = action_input("mode", inputs)
    event = read_event(environment, repository_root(workspace), inputs.get("github_token", ""))
    untrusted = bool(action_input("allow_untrusted", inputs))
    return job_of(event, None if mode is None else str(mode), allow_untrusted=untrusted)


def require_own_code(raw: RawSettings) -> None:
    """Raises InvalidSettings if a command would run untrusted code with access to secrets, as the action does.

    `RUNEVALS_ALLOW_UNTRUSTED` allows it: in CI only the workflow sets variables.
    """
    if raw.environment.get("GITHUB_EVENT_NAME"):
        allowed = raw.environment.get(ALLOW_UNTRUSTED, "")
        job = job_here(raw.environment, raw.cwd, {"allow_untrusted": allowed})
        if job.task == "refused":
            raise InvalidSettings(job.why)


def with_own_identity(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment, without the job's identity at an event that may bring code from elsewhere."""
    if not environment.get(REQUEST_URL):
        return environment
    event = Event(
        name=environment.get("GITHUB_EVENT_NAME", ""),
        payload=payload_of(environment),
        actor=environment.get("GITHUB_ACTOR", ""),
    )
    if may_identify(event):
        return environment
    return {name: value for name, value in environment.items() if name not in (REQUEST_URL, REQUEST_TOKEN)}


def payload_of(environment: Mapping[str, str]) -> Mapping[str, Any]:
    """GitHub's description of the event that started this job; empty if there is none."""
    try:
        payload = json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return payload if isinstance(payload, dict) else {}


def read_event(environment: Mapping[str, str], repository: Path, token: str = "") -> Event:
    """The event of this job and the checkout; without a name if there is none."""
    head, parents = git.head_and_parents(repository)
    event = Event(
        name=environment.get("GITHUB_EVENT_NAME", ""),
        payload=payload_of(environment),
        actor=environment.get("GITHUB_ACTOR", ""),
        sha=environment.get("GITHUB_SHA", ""),
        head=head,
        parents=parents,
        unreadable=None if head is not None else git.why_unreadable(repository),
    )
    if not is_elsewhere(event):
        return event
    return replace(event, left_default=_left_default(event, environment, repository, token))


def _left_default(event: Event, environment: Mapping[str, str], repository: Path, token: str) -> str | None:
    """The merge base of HEAD and the default branch; None if it is unknown."""
    branch = _default_branch(event.payload)
    if branch is None or event.head is None:
        return None
    common = git.common_ancestor(repository, f"refs/remotes/origin/{branch}")
    api = None if common is not None else _api(environment, token)
    return common if api is None else merge_base(api, environment["GITHUB_REPOSITORY"], branch, event.head)


def _default_branch(payload: Mapping[str, Any]) -> str | None:
    branch = value_at(payload, "repository", "default_branch")
    return branch if isinstance(branch, str) else None


def change_event(raw: RawSettings) -> ChangeEvent:
    """The change that is checked out, by the event. Raises InvalidSettings."""
    token = raw.inputs.get("github_token") or raw.environment.get("GITHUB_TOKEN", "")
    event = read_event(raw.environment, repository_root(raw.cwd), token)
    return ChangeEvent(
        unreadable=event.unreadable if event.name else None,
        on_pull_request=is_change(event),
        untrusted=is_guarded(event),
        base=deciding_commit(event),
    )


def action_input(name: str, inputs: Mapping[str, str]) -> object:
    """The value of an input that only a workflow can set, or its default. Raises InvalidSettings."""
    return input_of(next(setting for setting in INPUTS if setting.name == name), inputs)


def results_of_job(inputs: Mapping[str, str], folder: Path) -> ResultsRequest:
    """Which results of another tool the workflow names, relative to this folder. Raises InvalidSettings."""
    from runevals.run.tool_results import ResultsRequest  # only `mode: gate` needs it

    names = action_input("results", inputs)
    if not isinstance(names, tuple) or not names:
        raise InvalidSettings("mode: gate needs `results`, the files that the other tool wrote")
    return ResultsRequest(
        paths=tuple(Path(os.path.relpath(folder / name)) for name in names),
        deterministic=bool(action_input("deterministic", inputs)),
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
        api=_api(environment, token),
        server=environment.get("GITHUB_SERVER_URL") or DEFAULT_SERVER,
        repository=repository,
        workflow=path.rpartition("/")[2] if path.startswith(f"{repository}/") else "",
        run=int(run) if run.isdecimal() else None,
        attempt=int(attempt) if attempt.isdecimal() else 1,
        default_branch=_default_branch(payload_of(environment)),
        comment_id=comment_id,
        # A shard's artifact has its own name: it is neither shown nor used as a base.
        artifact=whole if shard is None else f"shard-{shard.part}-of-{shard.of}-{whole}",
    )


def _api(environment: Mapping[str, str], token: str) -> Api | None:
    if not token or not environment.get("GITHUB_REPOSITORY"):
        return None
    return Api(environment.get("GITHUB_API_URL") or PUBLIC_API, token)
