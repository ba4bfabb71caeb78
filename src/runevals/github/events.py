"""The task of a job, by the event that started it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.shapes import text_in

PULL_REQUEST_EVENTS = frozenset(
    {"pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "merge_group"}
)
# At these events a checkout has secrets only if it may, or the workflow checks out another commit on purpose.
KNOWN_EVENTS = (PULL_REQUEST_EVENTS - {"pull_request_target"}) | {"push", "schedule", "workflow_dispatch"}
DEPENDABOT = "dependabot[bot]"
_HEADS = "refs/heads/"

Task = Literal["run", "comment", "refused"]


class Event(Struct, frozen=True, kw_only=True):
    """An event as the runner describes it, with the state of the checkout."""

    name: str = ""
    payload: Mapping[str, Any]
    actor: str = ""
    sha: str = ""  # GITHUB_SHA
    head: str | None = None  # what is checked out
    parents: tuple[str, ...] = ()  # of that commit
    left_default: str | None = None  # the commit at which it left the default branch, if that is known
    unreadable: str | None = None  # why git cannot say what is checked out


class Job(Struct, frozen=True, kw_only=True):
    """What a job has to do, and the base of its comparison."""

    task: Task = "run"
    base: str | None = None  # the commit whose result this one is compared with
    forked: bool = False  # `base` is the tip of its branch: the change began at an older commit
    branch: str | None = None  # where such results come from
    head: str | None = None  # the commit that is proposed
    pull_request: int | None = None
    has_secrets: bool = True
    run: int | None = None  # whose results are to be shown
    why: str = ""


def value_at(payload: object, *names: str) -> Any:
    """What objects inside each other have at these names; None if one of them is missing."""
    for name in names:
        payload = payload.get(name) if isinstance(payload, Mapping) else None
    return payload


def job_of(event: Event, mode: str | None = None, *, allow_untrusted: bool = False) -> Job:
    """The job of an event; a pure function. `mode` is the action's input."""
    try:
        job = _job(event)
    except (KeyError, TypeError, ValueError, AttributeError):
        job = Job(why=f"the event {event.name} does not say what such events say")
    match job.task, mode:
        case "comment", "run":
            job = Job()
        case "comment", _:
            return job
        case _, "comment":
            why = "mode: comment shows the results of another run: it is for workflow_run"
            return Job(task="refused", why=why)
        case _:
            pass
    refusal = _why_not_run(event, allow_untrusted=allow_untrusted)
    return job if refusal is None else replace(job, task="refused", why=refusal)


def _why_not_run(event: Event, *, allow_untrusted: bool) -> str | None:
    """Why the job of this event must run nothing; None if it may."""
    if event.name and event.unreadable is not None:
        return f"{event.name}: git does not say which commit is checked out: {event.unreadable}"
    unknown = event.name not in ("", *KNOWN_EVENTS) and event.head is None
    if allow_untrusted or not (unknown or runs_a_strangers_code(event)):
        return None
    return (
        f"{event.name} runs with secrets, and what is checked out is not the base's own code: whoever opens a "
        "pull request could take them. Use pull_request, or set allow_untrusted: true where you know better "
        "(RUNEVALS_ALLOW_UNTRUSTED=true outside the action)"
    )


def _job(event: Event) -> Job:
    payload = event.payload
    match event.name:
        case "pull_request" | "pull_request_target" | "pull_request_review" | "pull_request_review_comment":
            return _pull_request(event)
        case "merge_group":
            group = payload["merge_group"]
            branch = group["base_ref"].removeprefix(_HEADS)
            return Job(base=text_or_none(group["base_sha"]), branch=branch, head=text_or_none(group["head_sha"]))
        case "push":
            before = payload["before"] if payload["before"].strip("0") else None  # zeros: a new branch
            branch = payload["ref"].removeprefix(_HEADS) if before else _default_branch(payload)
            return Job(base=before, branch=branch)
        case "workflow_dispatch" if is_elsewhere(event):
            return Job(base=event.left_default, branch=_default_branch(payload), head=event.head)
        case "schedule" | "workflow_dispatch":
            return Job(branch=_default_branch(payload))
        case "workflow_run":
            return Job(task="comment", run=int(payload["workflow_run"]["id"]))
        case _:
            return Job()


def _pull_request(event: Event) -> Job:
    change = event.payload["pull_request"]
    base, proposed = change["base"], text_or_none(value_at(change, "head", "sha"))
    # The runner checks out the change merged into the base's tip at that moment: compare with that tip.
    # Another commit with such parents is the change's own, and so is the first of them.
    merged = proposed is not None and event.parents[1:] == (proposed,) and event.head == event.sha
    from_fork = value_at(change, "head", "repo", "id") != value_at(change, "base", "repo", "id")
    withheld = event.actor == DEPENDABOT or (from_fork and event.name != "pull_request_target")
    return Job(
        base=event.parents[0] if merged else text_or_none(base["sha"]),
        forked=not merged,
        branch=base.get("ref"),
        head=proposed,
        pull_request=change.get("number"),
        has_secrets=not withheld,
    )


def runs_a_strangers_code(event: Event) -> bool:
    """Whether a job with secrets has checked out another commit than the one whose workflow runs.

    A comment, a check or a dispatch from elsewhere runs what the default branch says; a step can then check out
    a change, which may be anybody's.
    """
    if not event.name or event.name in KNOWN_EVENTS or event.head is None:
        return False
    of_base = "pull_request" if event.name == "pull_request_target" else ""
    return event.head not in (event.sha, value_at(event.payload, of_base, "base", "sha"))


def _default_branch(payload: Mapping[str, Any]) -> str:
    return str(payload["repository"]["default_branch"])


def text_or_none(value: object) -> str | None:
    """A text; None for an empty one, and anything else."""
    return text_in(value) or None


def is_elsewhere(event: Event) -> bool:
    """Whether a manual run is of another branch than the default one: it is a change to that.

    A required check may be satisfied by it. A commit that the default branch has is no change.
    """
    if event.name != "workflow_dispatch" or event.head is None:
        return False
    default = value_at(event.payload, "repository", "default_branch")
    itself = event.payload.get("ref") == f"refs/heads/{default}" and event.head == event.sha
    return not itself and event.left_default != event.head


def is_change(event: Event) -> bool:
    """Whether the job measures a proposed change, which must not decide how it is judged."""
    return event.name in PULL_REQUEST_EVENTS


def deciding_commit(event: Event) -> str | None:
    """The commit that decides over the checkout, if that is a change and its event names it."""
    return job_of(event).base if is_change(event) or is_elsewhere(event) else event.sha or None


def is_guarded(event: Event) -> bool:
    """Whether what is checked out must not decide how it is judged."""
    return is_change(event) or is_elsewhere(event) or runs_a_strangers_code(event)


def may_identify(event: Event) -> bool:
    """Whether the job may get an identity for a model: only at known events, and for nobody else's change."""
    job = job_of(event)
    return event.name in KNOWN_EVENTS and job.has_secrets and not job.why
