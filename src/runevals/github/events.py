"""What the event that started a job asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

PULL_REQUEST_EVENTS = frozenset(
    {"pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "merge_group"}
)
# They run with secrets and a token that can write, whoever made the change.
PRIVILEGED = frozenset({"pull_request_target", "workflow_run"})
# Their workflows and their code are of one commit, unless a step checks out another on purpose.
OF_ONE_COMMIT = frozenset({"push", "schedule", "workflow_dispatch"})
DEPENDABOT = "dependabot[bot]"

Task = Literal["run", "comment", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event as the runner tells it, with the state of the checkout that it is to be understood with."""

    name: str = ""
    payload: Mapping[str, Any]
    actor: str = ""
    sha: str = ""  # GITHUB_SHA
    head: str | None = None  # what is checked out
    parents: tuple[str, ...] = ()  # of that commit
    unreadable: str | None = None  # why git does not say what is checked out, though something is


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be done, for whom, and against what it is measured."""

    task: Task = "run"
    base: str | None = None  # the commit whose result this one is compared with
    forked: bool = False  # `base` is the tip of its branch: the change began at an older commit
    branch: str | None = None  # where such results come from
    head: str | None = None  # the commit that is proposed
    pull_request: int | None = None
    has_secrets: bool = True
    run: int | None = None  # whose results are to be shown
    why: str = ""


def job_of(event: Event, mode: str | None = None, *, allow_untrusted: bool = False) -> Job:
    """What an event asks for; nothing but its arguments decides. `mode` is the action's input."""
    try:
        job = _job(event)
    except (KeyError, TypeError, ValueError, AttributeError):
        job = Job(why=f"the event {event.name} does not say what such events say")
    if job.task == "comment" and mode == "run":
        job = Job()
    if job.task != "comment" and mode == "comment":
        return Job(task="refused", why="mode: comment shows the results of another run: it is for workflow_run")
    if job.task == "run" and event.name and event.unreadable is not None:
        why = f"{event.name}: git does not say which commit is checked out: {event.unreadable}"
        return replace(job, task="refused", why=why)
    if job.task == "run" and not allow_untrusted and _runs_a_strangers_code(event):
        told = (
            f"{event.name} runs with secrets, and what is checked out is not the base's own code: whoever opens a "
            "pull request could take them. Use pull_request, or set allow_untrusted: true where you know better"
        )
        return replace(job, task="refused", why=told)
    return job


def _job(event: Event) -> Job:
    payload = event.payload
    match event.name:
        case "pull_request" | "pull_request_target" | "pull_request_review" | "pull_request_review_comment":
            return _pull_request(event)
        case "merge_group":
            group = payload["merge_group"]
            branch = _branch(group["base_ref"])
            return Job(base=_commit(group["base_sha"]), branch=branch, head=_commit(group["head_sha"]))
        case "push":
            before = payload["before"] if payload["before"].strip("0") else None  # zeros: a new branch
            return Job(base=before, branch=_branch(payload["ref"]) if before else _default_branch(payload))
        case "schedule" | "workflow_dispatch":
            return Job(branch=_default_branch(payload))
        case "workflow_run":
            return Job(task="comment", run=int(payload["workflow_run"]["id"]))
        case _:
            return Job()


def _pull_request(event: Event) -> Job:
    change = event.payload["pull_request"]
    base, head = change["base"], change.get("head") or {}
    proposed = _commit(head.get("sha"))
    # The runner checks out the change merged into the base's tip of that moment: the fair side to compare with.
    # Another commit with such parents is the change's own, and so is the first of them.
    merged = proposed is not None and event.parents[1:] == (proposed,) and event.head == event.sha
    from_fork = (head.get("repo") or {}).get("id") != (base.get("repo") or {}).get("id")
    withheld = event.actor == DEPENDABOT or (from_fork and event.name != "pull_request_target")
    return Job(
        base=event.parents[0] if merged else _commit(base["sha"]),
        forked=not merged,
        branch=base.get("ref"),
        head=proposed,
        pull_request=change.get("number"),
        has_secrets=not withheld,
    )


def _runs_a_strangers_code(event: Event) -> bool:
    if event.name not in PRIVILEGED or event.head is None:
        return False
    change = event.payload.get("pull_request")
    base = change["base"]["sha"] if isinstance(change, Mapping) else None
    return event.head not in (event.sha, base)


def _default_branch(payload: Mapping[str, Any]) -> str:
    return str(payload["repository"]["default_branch"])


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _commit(sha: object) -> str | None:
    return sha if isinstance(sha, str) and sha else None


def is_strange(event: Event) -> bool:
    """Whether another commit is checked out than the one whose workflow runs: it may be anybody's.

    A comment, a review or a dispatch runs what the default branch says, with its secrets; a step can then check
    out a change.
    """
    of_a_change = event.name in PULL_REQUEST_EVENTS or event.name in OF_ONE_COMMIT
    return bool(event.name) and not of_a_change and event.head is not None and event.head != event.sha


def is_change(event: Event) -> bool:
    """Whether the job looks at a proposed change, which must not decide how it is judged."""
    return event.name in PULL_REQUEST_EVENTS
