"""Posts a conclusion as a comment on its pull request; an error only loses the comment."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from runevals.github.api import GitHubRefused, github_shape_errors
from runevals.github.comments import CommentOrigin, Comments, unverified_marker
from runevals.github.job import JobContext
from runevals.records import Conclusion, RunReport
from runevals.reports import unverified_comment

CHANGED = ("regressed", "fixed", "added", "removed", "edited", "renamed", "worse", "better")


class CommentDelivery(Struct, frozen=True, kw_only=True):
    """The comment's text and its address, or why it was not posted."""

    body: str
    url: str = ""
    problem: str = ""
    notice: str = ""  # why another comment was left there


def posting(
    body: str,
    conclusions: Collection[Conclusion],
    here: JobContext,
    when: str,
    pull_request: int | None,
    head: str | None,
) -> CommentDelivery:
    """Posts the text on these conclusions on the pull request if `when` allows it."""
    origin = None if here.run is None else CommentOrigin(run=here.run, attempt=here.attempt, head=head or "")
    if origin is not None:
        body = f"{body.rstrip()}\n\n{origin}\n"
    if when == "never":
        return CommentDelivery(body=body)
    create = when == "always" or any(_worth_it(conclusion, when) for conclusion in conclusions)
    return _put(body, here.marker, here, pull_request, origin=origin, create=create)


class Unverified(Struct, frozen=True, kw_only=True):
    """Results that cannot be verified: made by `author`, of the commit `head`."""

    reports: Sequence[RunReport]
    author: str = "the fork"
    head: str | None = None
    comment_id: str | None = None  # None: one comment, whatever their artifacts are called


def posting_unverified(unverified: Unverified, here: JobContext, when: str, pull_request: int) -> CommentDelivery:
    """Renders one comment on all of them, with its own marker, and posts it on the pull request."""
    marker = unverified_marker(unverified.comment_id)
    body = unverified_comment.render(unverified.reports, here.links(unverified.head), marker, unverified.author)
    if when == "never":
        return CommentDelivery(body=body)
    create = when == "always" or not unverified_comment.all_pass(unverified.reports)
    return _put(body, marker, here, pull_request, create=create)


def _put(
    body: str,
    marker: str,
    here: JobContext,
    pull_request: int | None,
    *,
    origin: CommentOrigin | None = None,
    create: bool,
) -> CommentDelivery:
    if pull_request is None:
        return CommentDelivery(body=body)
    if here.api is None:
        return CommentDelivery(body=body, problem="there is no github_token to write it with")
    try:
        with github_shape_errors():
            comments = Comments(here.api, here.repository)
            put = comments.put(pull_request, marker, body, origin=origin, create=create)
    except GitHubRefused as refused:
        return CommentDelivery(body=body, problem=str(refused))
    stays = f"The comment is of a later run and stays as it is: {put.url}"
    return CommentDelivery(body=body, url=put.url, notice=stays if put.what == "of a later run" else "")


def _worth_it(conclusion: Conclusion, when: str) -> bool:
    """Whether a first comment is posted; an existing one is always updated."""
    if conclusion.verdict.outcome in ("failed", "unmeasured"):
        return True
    comparison = conclusion.comparison
    return when == "on-change" and comparison is not None and any(c.change in CHANGED for c in comparison.changes)
