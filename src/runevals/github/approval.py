"""Whether a reviewer agreed to a change at this very commit: by an approval, or by a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from runevals.github.api import Api, GitHubRefused, github_shape_errors
from runevals.github.comments import READS

MAY_WRITE = frozenset({"admin", "write"})  # what GitHub calls the permission of all roles that may push
CONTENTS = "contents: read"
METADATA = "metadata: read"
_CO_AUTHOR = re.compile(r"(?im)^co-authored-by:.*<(\d+)\+[^@<>]*@users\.noreply\.")
DECIDING = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})  # other reviews only comment


class NotApproved(Exception):
    """There is no valid approval; the message says why."""


class PullRequest(Struct, frozen=True, kw_only=True):
    """One pull request at the commit that was measured."""

    api: Api
    repository: str
    number: int
    head: str  # the full name of that commit
    in_group: bool = False  # as a merge group has it

    def get(self, path: str, needs: str = READS) -> Any:
        """The JSON at a path of its repository."""
        return self.api.get(f"/repos/{self.repository}{path}", needs)

    def items(self, path: str, needs: str = READS, **query: str) -> Iterator[Any]:
        """The entries of a list of its repository."""
        yield from self.api.items(f"/repos/{self.repository}{path}", needs, **query)


class LabelEvent(Struct, frozen=True, kw_only=True):
    """A label that was just set, as the event says that started the job."""

    name: str
    head: str  # the commit that the pull request had at that moment
    sender: Mapping[str, Any]


def approver(change: PullRequest, label: str | None, event: LabelEvent | None) -> str:
    """The name of the approver: a person with write access who did not contribute to the change.

    `label` is the one that the base's settings name. Raises NotApproved.
    """
    try:
        with github_shape_errors():
            return _approver(change, label, event)
    except GitHubRefused as refused:
        raise NotApproved(f"GitHub does not say who approved it: {refused}") from None


def _approver(change: PullRequest, label: str | None, event: LabelEvent | None) -> str:
    pull = change.get(f"/pulls/{change.number}")
    _require_own_head(pull, change)
    reviewers = [*_reviewers(change)]
    if label is not None and event is not None and event.name == label:
        _require_label(pull, label, event, change.head)
        reviewers.append(event.sender)
    if not reviewers:
        labelled = "; a label counts only in the run that it starts, an approval in the merge group too"
        hint = labelled if change.in_group and label is not None else ""
        raise NotApproved(f"nobody approved {change.head[:7]}{hint}")
    involved = _involved(pull, change)
    reasons = []
    for user in reviewers:
        why_not = _why_not(user, involved, change)
        if why_not is None:
            return str(user["login"])
        reasons.append(f"@{user['login']} {why_not}")
    raise NotApproved("; ".join(dict.fromkeys(reasons)))


def _require_own_head(pull: Any, change: PullRequest) -> None:
    """Raises NotApproved unless the change is a branch of the repository itself that ends at what was measured."""
    source = pull["head"]["repo"]
    if source is None or source["id"] != pull["base"]["repo"]["id"]:
        raise NotApproved("the change comes from a fork, and GitHub does not say who pushed to that")
    if pull["head"]["sha"] != change.head:
        raise NotApproved(f"{change.head[:7]} is not the pull request's head any more")


def _require_label(pull: Any, label: str, event: LabelEvent, head: str) -> None:
    """Raises NotApproved for a label of an earlier commit, or one that was removed since."""
    if event.head != head:
        raise NotApproved(f"the label {label} was set at {event.head[:7]}, not at {head[:7]}")
    if label not in {one["name"] for one in pull["labels"]}:
        raise NotApproved(f"the label {label} is not set any more")


def _reviewers(change: PullRequest) -> Iterator[Mapping[str, Any]]:
    """Reviewers whose latest review approves this commit."""
    last: dict[int, Any] = {}
    for review in change.items(f"/pulls/{change.number}/reviews"):
        if review["user"] is not None and review["state"] in DECIDING:
            last[review["user"]["id"]] = review
    for review in last.values():
        if (review["state"], review["commit_id"]) == ("APPROVED", change.head):
            yield review["user"]


def _involved(pull: Any, change: PullRequest) -> frozenset[int]:
    """Who opened the pull request, committed to its branch, pushed to it, or is a co-author with a GitHub address.

    Raises NotApproved if GitHub does not know all of them: a bot acts for somebody that it does not name.
    """
    people = [pull["user"]]
    co_authors: set[int] = set()
    commits = list(change.items(f"/pulls/{change.number}/commits"))
    if len(commits) != pull["commits"]:
        raise NotApproved(f"GitHub lists only {len(commits)} of its {pull['commits']} commits")
    for commit in commits:
        co_authors |= {int(number) for number in _CO_AUTHOR.findall(commit["commit"]["message"])}
        people += [commit["author"], commit["committer"]]
        if not all(person and "id" in person for person in people[-2:]):
            raise NotApproved(f"GitHub does not know who made the commit {commit['sha'][:7]}")
    pushes = list(change.items("/activity", CONTENTS, ref=f"refs/heads/{pull['head']['ref']}"))
    if change.head not in {push["after"] for push in pushes}:
        raise NotApproved(f"GitHub does not know who pushed {change.head[:7]}")
    if not all(push["actor"] for push in pushes):
        raise NotApproved("GitHub does not know everyone who pushed to the branch")
    pushers = [push["actor"] for push in pushes]
    bots = [user["login"] for user in (pull["user"], *pushers) if user.get("type") != "User"]
    if bots:
        raise NotApproved(f"GitHub does not say who had {bots[0]} open the pull request or push to it")
    return frozenset({*(person["id"] for person in (*people, *pushers)), *co_authors})


def _why_not(user: Mapping[str, Any], involved: frozenset[int], change: PullRequest) -> str | None:
    """Why the approval of this user does not count; None if it does."""
    if user["type"] != "User":
        return "is not a person"
    if user["id"] in involved:
        return "had a part in the change"
    permission = change.get(f"/collaborators/{quote(str(user['login']), safe='')}/permission", METADATA)
    return None if permission["permission"] in MAY_WRITE else "may not write to the repository"
