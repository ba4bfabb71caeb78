"""A result of the base that an earlier run left."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from runevals.verdict.outcome import Baseline


class StoredBase(Struct, frozen=True, kw_only=True):
    """What was found; without a baseline the notices say why.

    `unreadable` says why a result that is stored, or may be, cannot be used; None if none was ever stored.
    `never_stored` says so of what a change is compared with, which can be run instead.
    """

    baseline: Baseline | None = None
    notices: tuple[str, ...] = ()
    commit: str | None = None  # what the change is to be compared with, if that is known
    of_commit: str | None = None  # what the stored result is of
    other_branch: bool = False  # it is of the default branch, and of no commit before that one
    unreadable: str | None = None
    never_stored: str = ""
    run_ids: Mapping[str, int] = {}  # source of a baseline → the run that stored it
    later: Callable[[], StoredBase] | None = None  # waits for a run of the commit, if one is in progress

    @property
    def is_known(self) -> bool:
        """Whether a result is stored, or may be, or the base can be run instead."""
        return any((self.baseline is not None, self.unreadable is not None, self.never_stored))

    @property
    def is_settled(self) -> bool:
        """Whether the result is of the base, or of any commit if nothing says which commit is the base."""
        return self.baseline is not None and (self.baseline.older is None or self.commit is None)
