"""The one comment on a pull request that is ours, found again and kept up to date."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Literal

from runevals.github.api import Api, GitHubRefused

READS, WRITES = "pull-requests: read", "pull-requests: write"
OF_THE_JOB = "github-actions[bot]"  # who comments with a job's own token, which may not ask for its name
ATTEMPTS = 3
_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST_ID = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOutcome:
    """What became of a comment."""

    what: Literal["created", "changed", "unchanged", "none"]
    url: str = ""


def slug(comment_id: str) -> str:
    """`comment_id` as part of a marker and of an artifact's name; two that differ stay apart."""
    plain = _PLAIN.sub("-", comment_id).strip("-")
    if plain == comment_id and len(plain) <= LONGEST_ID:
        return plain
    return f"{plain[: LONGEST_ID - 9]}-{hashlib.sha256(comment_id.encode()).hexdigest()[:8]}"


def marker(comment_id: str) -> str:
    """What our comment of this id begins with."""
    return f"<!-- runevals {slug(comment_id)} -->"


def unverified_marker(comment_id: str | None) -> str:
    """What our comment on results of a fork begins with: never that of a comment on results of our own."""
    return f"<!-- runevals-unverified{f' {slug(comment_id)}' if comment_id else ''} -->"


class Comments:
    """The comments of one repository's pull requests."""

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._path = f"/repos/{repository}/issues"
        self._we: str | None = None

    def put(self, pull_request: int, marker: str, body: str, *, create: bool = True) -> CommentOutcome:
        """Makes `body`, which begins with `marker`, our comment there; without `create` only where one is.

        Raises GitHubRefused.
        """
        for attempt in range(1, ATTEMPTS + 1):
            found = self._ours(pull_request, marker)
            if found is not None and (posted := self._changed(found, body)) is not None:
                return posted
            if found is None and not create:
                return CommentOutcome(what="none")
            try:
                made = self._api.post(f"{self._path}/{pull_request}/comments", WRITES, {"body": body})
                return CommentOutcome(what="created", url=made["html_url"])
            except GitHubRefused as refused:
                definite = refused.status is not None and refused.status < 500
                if definite or attempt == ATTEMPTS:
                    raise  # else it may have been made all the same: it is looked for again
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _changed(self, found: Any, body: str) -> CommentOutcome | None:
        """None where somebody has just deleted it."""
        if _same(found["body"], body):
            return CommentOutcome(what="unchanged", url=found["html_url"])
        try:
            changed = self._api.patch(f"{self._path}/comments/{found['id']}", WRITES, {"body": body})
        except GitHubRefused as refused:
            if refused.status != 404:
                raise
            return None
        return CommentOutcome(what="changed", url=changed["html_url"])

    def _ours(self, pull_request: int, marker: str) -> Any | None:
        """The newest comment by us that begins with the marker; anybody can write one that holds it."""
        found = None
        for comment in self._api.items(f"{self._path}/{pull_request}/comments", READS):
            if (comment.get("body") or "").startswith(marker) and self._by_us(comment):
                found = comment
        return found

    def _by_us(self, comment: Any) -> bool:
        if self._we is None:
            try:
                self._we = str(self._api.get("/user", "")["login"])
            except GitHubRefused as refused:
                if refused.status not in (401, 403):
                    raise
                self._we = OF_THE_JOB
        return (comment.get("user") or {}).get("login") == self._we


def _same(stored: str | None, body: str) -> bool:
    """GitHub may keep other line ends and no white space around."""
    return (stored or "").replace("\r\n", "\n").strip() == body.strip()
