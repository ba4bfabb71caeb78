"""Our comment on a pull request: found again and updated."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Literal

from msgspec import Struct

from runevals.github.api import Api, GitHubRefused

READS, WRITES = "pull-requests: read", "pull-requests: write"
_APP = "[bot]"
OF_THE_JOB = f"github-actions{_APP}"  # who comments with a job's own token
ATTEMPTS = 3
_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_ORIGIN = re.compile(r"\n<!-- run (\d{1,18}), attempt (\d{1,9}), of (\w*) -->\s*\Z", re.ASCII)
LONGEST_ID = 60
BEGIN = "<!-- runevals "  # of the comments on results of our own


class CommentOutcome(Struct, frozen=True, kw_only=True):
    """The result of writing a comment."""

    what: Literal["created", "changed", "unchanged", "none", "of a later run"]
    url: str = ""


class CommentOrigin(Struct, frozen=True, kw_only=True):
    """Run, attempt and commit of a comment, stored at its end as an invisible remark."""

    run: int
    attempt: int
    head: str

    def __str__(self) -> str:
        return f"<!-- run {self.run}, attempt {self.attempt}, of {self.head} -->"

    def is_later_than(self, other: CommentOrigin) -> bool:
        """Whether the other's verdict must not replace this one's; another attempt for this commit may."""
        if self.run == other.run:
            return self.attempt > other.attempt
        return self.run > other.run and not (other.attempt > 1 and self.head == other.head)


def origin_of(body: str) -> CommentOrigin | None:
    """The origin in a comment, if it has one."""
    match = _ORIGIN.search(body)
    return None if match is None else CommentOrigin(run=int(match[1]), attempt=int(match[2]), head=match[3])


def slug(comment_id: str) -> str:
    """`comment_id` as part of a marker and of an artifact's name; different ids stay different."""
    plain = _PLAIN.sub("-", comment_id).strip("-")
    if plain == comment_id and len(plain) <= LONGEST_ID:
        return plain
    return f"{plain[: LONGEST_ID - 9]}-{hashlib.sha256(comment_id.encode()).hexdigest()[:8]}"


def marker(comment_id: str) -> str:
    """The beginning of our comment with this id."""
    return f"{BEGIN}{slug(comment_id)} -->"


def unverified_marker(comment_id: str | None) -> str:
    """The beginning of our comment on results of a fork, which differs from all others."""
    return f"<!-- runevals-unverified{f' {slug(comment_id)}' if comment_id else ''} -->"


class Comments:
    """The comments of one repository's pull requests."""

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._path = f"/repos/{repository}/issues"
        self._author = Author(api)

    def put(
        self,
        pull_request: int,
        marker: str,
        body: str,
        *,
        origin: CommentOrigin | None = None,
        create: bool = True,
    ) -> CommentOutcome:
        """Makes `body`, which begins with `marker`, our comment there; without `create` only if there is one.

        One of a later run than `origin` stays. Raises GitHubRefused.
        """
        for attempt in range(1, ATTEMPTS + 1):
            ours = self._ours(pull_request, marker)
            if ours and (posted := self._changed(ours[-1], body, origin)) is not None:
                return posted
            if not ours and not create:
                return CommentOutcome(what="none")
            try:
                new_comment = self._api.post(f"{self._path}/{pull_request}/comments", WRITES, {"body": body})
            except GitHubRefused as refused:
                definite = refused.status is not None and refused.status < 500
                if definite or attempt == ATTEMPTS:
                    raise  # otherwise it may have been created: search again
            else:
                return self._only_one(pull_request, marker, new_comment, origin)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def has_one_of(self, pull_request: int, run: int) -> bool:
        """Whether one of our comments there was made by this run itself. Raises GitHubRefused."""
        origins = (origin_of(comment["body"]) for comment in self._ours(pull_request, BEGIN))
        return any(origin is not None and origin.run == run for origin in origins)

    def _only_one(
        self, pull_request: int, marker: str, comment: Any, origin: CommentOrigin | None
    ) -> CommentOutcome:
        """Another run may have made its first comment at the same time: then only the first of them stays."""
        created = CommentOutcome(what="created", url=comment["html_url"])
        try:
            first = next(iter(self._ours(pull_request, marker)), comment)
            if first["id"] == comment["id"]:
                return created
            self._api.delete(f"{self._path}/comments/{comment['id']}", WRITES)
        except GitHubRefused:
            return created  # it exists, beside another
        return self._changed(first, comment["body"], origin) or created

    def _changed(self, comment: Any, body: str, origin: CommentOrigin | None) -> CommentOutcome | None:
        """Updates a comment; None if it has just been deleted."""
        there = origin_of(comment["body"])
        if origin is not None and there is not None and there.is_later_than(origin):
            return CommentOutcome(what="of a later run", url=comment["html_url"])
        stored = (comment["body"] or "").replace("\r\n", "\n")  # GitHub has its own line ends and white space
        if stored.strip() == body.strip():
            return CommentOutcome(what="unchanged", url=comment["html_url"])
        try:
            changed = self._api.patch(f"{self._path}/comments/{comment['id']}", WRITES, {"body": body})
        except GitHubRefused as refused:
            if refused.status != 404:
                raise
            return None
        return CommentOutcome(what="changed", url=changed["html_url"])

    def _ours(self, pull_request: int, marker: str) -> list[Any]:
        """Our comments that begin with the marker, oldest first; other users can write the marker too."""
        comments = self._api.items(f"{self._path}/{pull_request}/comments", READS)
        begin_so = [comment for comment in comments if (comment.get("body") or "").startswith(marker)]
        return [comment for comment in begin_so if self._author.wrote(comment)]


class Author:
    """The user or app of a token."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._we: str | None = None

    def wrote(self, item: Any) -> bool:
        """Whether a comment or an issue is by the token's own user. Raises GitHubRefused."""
        if self._we is None:
            self._we = self._user() or self._app() or OF_THE_JOB
        return (item.get("user") or {}).get("login") == self._we

    def _user(self) -> str | None:
        """The user of the token; None for an app's token, which cannot query it."""
        try:
            return str(self._api.get("/user", "")["login"])
        except GitHubRefused as refused:
            if refused.status not in (401, 403):
                raise
            return None

    def _app(self) -> str | None:
        """The name of the token's app. GitHub may cut off its end."""
        try:
            login = str(self._api.graphql("query { viewer { login } }")["viewer"]["login"])
        except (GitHubRefused, KeyError, TypeError):
            return None
        return login if login.endswith(_APP) else f"{login}{_APP}"
