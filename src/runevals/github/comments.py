"""The one comment on a pull request that is ours, found again and kept up to date."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Literal

from runevals.github.api import Api, GitHubRefused

READS, WRITES = "pull-requests: read", "pull-requests: write"
_APP = "[bot]"
OF_THE_JOB = f"github-actions{_APP}"  # who comments with a job's own token
ATTEMPTS = 3
_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_ORIGIN = re.compile(r"\n<!-- run (\d{1,18}), attempt (\d{1,9}), of (\w*) -->\s*\Z", re.ASCII)
LONGEST_ID = 60
BEGIN = "<!-- runevals "  # of the comments on results of our own


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOutcome:
    """What became of a comment."""

    what: Literal["created", "changed", "unchanged", "none", "of a later run"]
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOrigin:
    """Which attempt of which run a comment is of, and of which commit; the comment ends with it, unseen."""

    run: int
    attempt: int
    head: str

    def __str__(self) -> str:
        return f"<!-- run {self.run}, attempt {self.attempt}, of {self.head} -->"

    def is_later_than(self, other: CommentOrigin) -> bool:
        """Whether the other's verdict must not replace this one's; one that is run again for this commit may."""
        if self.run == other.run:
            return self.attempt > other.attempt
        return self.run > other.run and not (other.attempt > 1 and self.head == other.head)


def origin_of(body: str) -> CommentOrigin | None:
    """Of which run a comment is, as far as it says so."""
    found = _ORIGIN.search(body)
    return None if found is None else CommentOrigin(run=int(found[1]), attempt=int(found[2]), head=found[3])


def slug(comment_id: str) -> str:
    """`comment_id` as part of a marker and of an artifact's name; two that differ stay apart."""
    plain = _PLAIN.sub("-", comment_id).strip("-")
    if plain == comment_id and len(plain) <= LONGEST_ID:
        return plain
    return f"{plain[: LONGEST_ID - 9]}-{hashlib.sha256(comment_id.encode()).hexdigest()[:8]}"


def marker(comment_id: str) -> str:
    """What our comment of this id begins with."""
    return f"{BEGIN}{slug(comment_id)} -->"


def unverified_marker(comment_id: str | None) -> str:
    """What our comment on results of a fork begins with: never that of a comment on results of our own."""
    return f"<!-- runevals-unverified{f' {slug(comment_id)}' if comment_id else ''} -->"


class Comments:
    """The comments of one repository's pull requests."""

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._path = f"/repos/{repository}/issues"
        self._we: str | None = None

    def put(
        self,
        pull_request: int,
        marker: str,
        body: str,
        *,
        origin: CommentOrigin | None = None,
        create: bool = True,
    ) -> CommentOutcome:
        """Makes `body`, which begins with `marker`, our comment there; without `create` only where one is.

        One of a later run than `origin` stays. Raises GitHubRefused.
        """
        for attempt in range(1, ATTEMPTS + 1):
            ours = self._ours(pull_request, marker)
            if ours and (posted := self._changed(ours[-1], body, origin)) is not None:
                return posted
            if not ours and not create:
                return CommentOutcome(what="none")
            try:
                made = self._api.post(f"{self._path}/{pull_request}/comments", WRITES, {"body": body})
            except GitHubRefused as refused:
                definite = refused.status is not None and refused.status < 500
                if definite or attempt == ATTEMPTS:
                    raise  # else it may have been made all the same: it is looked for again
            else:
                return self._only_one(pull_request, marker, made, origin)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def has_one_of(self, pull_request: int, run: int) -> bool:
        """Whether one of our comments there was made by this run itself. Raises GitHubRefused."""
        origins = (origin_of(comment["body"]) for comment in self._ours(pull_request, BEGIN))
        return any(origin is not None and origin.run == run for origin in origins)

    def _only_one(self, pull_request: int, marker: str, made: Any, origin: CommentOrigin | None) -> CommentOutcome:
        """Another run may have made its first comment at the same time: then only the first of them stays."""
        created = CommentOutcome(what="created", url=made["html_url"])
        try:
            first = next(iter(self._ours(pull_request, marker)), made)
            if first["id"] == made["id"]:
                return created
            self._api.delete(f"{self._path}/comments/{made['id']}", WRITES)
        except GitHubRefused:
            return created  # it stands, beside another
        return self._changed(first, made["body"], origin) or created

    def _changed(self, found: Any, body: str, origin: CommentOrigin | None) -> CommentOutcome | None:
        """None where somebody has just deleted it."""
        there = origin_of(found["body"])
        if origin is not None and there is not None and there.is_later_than(origin):
            return CommentOutcome(what="of a later run", url=found["html_url"])
        if _same(found["body"], body):
            return CommentOutcome(what="unchanged", url=found["html_url"])
        try:
            changed = self._api.patch(f"{self._path}/comments/{found['id']}", WRITES, {"body": body})
        except GitHubRefused as refused:
            if refused.status != 404:
                raise
            return None
        return CommentOutcome(what="changed", url=changed["html_url"])

    def _ours(self, pull_request: int, marker: str) -> list[Any]:
        """The comments by us that begin with the marker, oldest first; anybody can write one that holds it."""
        listed = self._api.items(f"{self._path}/{pull_request}/comments", READS)
        begin_so = [comment for comment in listed if (comment.get("body") or "").startswith(marker)]
        return [comment for comment in begin_so if self._by_us(comment)]

    def _by_us(self, comment: Any) -> bool:
        if self._we is None:
            self._we = self._user() or self._app() or OF_THE_JOB
        return (comment.get("user") or {}).get("login") == self._we

    def _user(self) -> str | None:
        """Whose token it is; None for that of an app, which may not ask here."""
        try:
            return str(self._api.get("/user", "")["login"])
        except GitHubRefused as refused:
            if refused.status not in (401, 403):
                raise
            return None

    def _app(self) -> str | None:
        """What the app is called whose token it is. GitHub may leave out the end of its name."""
        try:
            login = str(self._api.graphql("query { viewer { login } }")["viewer"]["login"])
        except (GitHubRefused, KeyError, TypeError):
            return None
        return login if login.endswith(_APP) else f"{login}{_APP}"


def _same(stored: str | None, body: str) -> bool:
    """GitHub may keep other line ends and no white space around."""
    return (stored or "").replace("\r\n", "\n").strip() == body.strip()
