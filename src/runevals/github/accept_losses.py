"""The losses that a change accepts: a pull request's if a reviewer agreed to them, and what was merged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from runevals.github.api import github_shape_errors
from runevals.github.approval import LabelEvent, NotApproved, PullRequest, approver
from runevals.github.comments import READS
from runevals.github.events import value_at
from runevals.github.job import JobContext
from runevals.github.this_job import payload_of
from runevals.lib.text.escape import one_line
from runevals.records import Acceptance, AcceptedLoss, Conclusion
from runevals.records.errors import RunevalsError
from runevals.repository import git
from runevals.run.acceptance import ACCEPTABLE, entries_of_change, matching, with_acceptance, with_caveat
from runevals.run.baseline.checkout import is_here
from runevals.settings.file import BaseSide
from runevals.settings.resolve import Settings
from runevals.suites.accepted import FILENAME

# The branch of a merge group: it ends with the pull request that the group adds to its base.
_GROUP = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-(\d{1,18})-[0-9a-f]{40}", re.ASCII)


class ProposedLosses(Struct, frozen=True, kw_only=True):
    """The losses that a change proposes, read before any of its programs runs."""

    entries: tuple[AcceptedLoss, ...] = ()
    approver: Callable[[], str] = str  # who accepts them; raises NotApproved
    why_not: str = ""  # why none of them can be accepted


def proposed_losses(settings: Settings, here: JobContext, environment: Mapping[str, str]) -> ProposedLosses:
    """The entries of the commit that is checked out, if this job looks at a change, or at what was merged.

    Whoever may push to the default branch agreed to what the push brings.
    """
    side, job = settings.base_side, here.job
    pushed = environment.get("GITHUB_EVENT_NAME") == "push" and job.branch == here.default_branch
    if pushed and job.base is not None:
        side = BaseSide(commit=job.base, file=None)
    elif side is None or not side.on_pull_request:
        return ProposedLosses()
    commit, parents = git.head_and_parents(settings.repository)
    try:
        is_here(settings, side.commit)  # of a shallow checkout, it is fetched
        entries = () if commit is None else entries_of_change(replace(settings, base_side=side), commit)
        if not entries or pushed:
            by = value_at(payload_of(environment), "sender", "login")
            return ProposedLosses(entries=entries, approver=lambda: str(by))
        change = _change(settings, here, environment, (commit, *parents))
        who = partial(approver, change, settings.github.accept_label, label_event(environment))
        return ProposedLosses(entries=entries, approver=who)
    except (NotApproved, RunevalsError) as error:
        return ProposedLosses(why_not=str(error))


def _change(
    settings: Settings, here: JobContext, environment: Mapping[str, str], commits: Sequence[str | None]
) -> PullRequest:
    """The pull request of `commits`, which are HEAD and its parents. Raises NotApproved, GitHubRefused."""
    merged = commits[0] == environment.get("GITHUB_SHA")
    if environment.get("GITHUB_EVENT_NAME") == "merge_group":
        head_ref = str(value_at(payload_of(environment), "merge_group", "head_ref"))
        return _of_group(settings, here, head_ref, commits, merged=merged)
    return _pull_request(here, (commits[0], *commits[2:]), merged=merged)


def _of_group(
    settings: Settings, here: JobContext, head_ref: str, commits: Sequence[str | None], *, merged: bool
) -> PullRequest:
    """The one that a merge group adds to its base. Raises NotApproved if the group holds anything else."""
    job, match = here.job, _GROUP.fullmatch(head_ref)
    if here.api is None or match is None or job.base is None:
        raise NotApproved("this merge group does not say of which pull request it is, or there is no github_token")
    if commits[0] != job.head or not merged:
        raise NotApproved("what is checked out is not the merge group's head")
    number = int(match[1])
    with github_shape_errors():
        head = str(here.api.get(f"/repos/{here.repository}/pulls/{number}", READS)["head"]["sha"])
    if tuple(commits[1:]) != (job.base, head) and not _holds_only(settings, job.base, head):
        raise NotApproved(
            f"git does not show that the merge group is #{number} at {head[:7]} and nothing else; an approval "
            "says nothing of other changes. Check out with `fetch-depth: 0`, and merge one at a time"
        )
    return PullRequest(api=here.api, repository=here.repository, number=number, head=head, in_group=True)


def _holds_only(settings: Settings, base: str, head: str) -> bool:
    """Whether HEAD has just the files of `head` merged into the base: squashed or rebased, say."""
    is_here(settings, head)
    merged = git.merged_tree(settings.repository, base, head)
    return merged is not None and merged == git.tree_of(settings.repository, "HEAD")


def _pull_request(here: JobContext, commits: Sequence[str | None], *, merged: bool) -> PullRequest:
    """The one whose head is checked out, alone or as GitHub merged it. Raises NotApproved.

    `commits`: the one that is checked out, and the parents that were merged into the base.
    """
    job = here.job
    if here.api is None or job.pull_request is None or job.head is None:
        raise NotApproved("this job has no pull request to ask GitHub about, or no github_token")
    if commits[0] != job.head and not (merged and tuple(commits[1:]) == (job.head,)):
        raise NotApproved(f"what is checked out is not the pull request's head {job.head[:7]}")
    return PullRequest(api=here.api, repository=here.repository, number=job.pull_request, head=job.head)


def with_approved_losses(conclusion: Conclusion, settings: Settings, proposed: ProposedLosses) -> Conclusion:
    """The conclusion, in which approved losses do not block; if none is approved, it says why."""
    blocks = conclusion.verdict.exit_code in ACCEPTABLE and conclusion.comparison is not None
    if not blocks or not (proposed.entries or proposed.why_not):
        return conclusion
    losses = matching(conclusion, proposed.entries)
    try:
        if proposed.why_not:
            raise NotApproved(proposed.why_not)
        if not losses:
            raise NotApproved("no entry has the fingerprints of a case that was lost")
        by = proposed.approver()
    except NotApproved as error:
        return with_caveat(conclusion, f"{FILENAME} is not accepted: {one_line(str(error), 300)}", losses)
    return with_acceptance(conclusion, Acceptance(by=by, losses=losses), settings.rules)


def label_event(environment: Mapping[str, str]) -> LabelEvent | None:
    """The label whose setting started this job; None for another event."""
    payload = payload_of(environment)
    if environment.get("GITHUB_EVENT_NAME") != "pull_request" or payload.get("action") != "labeled":
        return None
    try:
        head = str(payload["pull_request"]["head"]["sha"])
        return LabelEvent(name=str(payload["label"]["name"]), head=head, sender=dict(payload["sender"]))
    except (KeyError, TypeError, ValueError):
        return None
