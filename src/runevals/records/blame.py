"""Which hunks of a change lost its cases."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from runevals.records.values import Count, Number

# removed: its lines are those of the base; renamed: the file has another path; file: all of it is one hunk
HunkKind = Literal["changed", "removed", "renamed", "file"]
_WHOLE = {"file": "the whole file", "renamed": "its new name"}


class Hunk(Struct, frozen=True, kw_only=True, gc=False):
    """Neighbouring lines that a change replaced, added or removed; `first` and `last` count from 1."""

    path: str  # relative to the repository
    first: Count = 0
    last: Count = 0
    kind: HunkKind = "changed"

    @property
    def place(self) -> str:
        """The file with its lines: `prompts/support.md:14–15`."""
        if self.kind in _WHOLE:
            return f"{self.path} ({_WHOLE[self.kind]})"
        lines = f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"
        return f"{self.path}:{lines}" + (" of the base (removed)" if self.kind == "removed" else "")


class BlamedCase(Struct, frozen=True, kw_only=True, gc=False):
    """A lost case with the hunks that lost it, or the reason why they are not known.

    Of the runs, `head` are those of the change as it is, and `restored` those with `put_back` put back. If nothing
    was found, all hunks were put back.
    """

    suite: str
    key: str
    hunks: tuple[Hunk, ...] = ()  # that lost it; several: only together, or each alone if all are in `put_back`
    put_back: tuple[Hunk, ...] = ()  # the fewest that restore it
    head_passed: Count = 0
    head_runs: Count = 0
    restored_passed: Count = 0
    restored_runs: Count = 0
    calls: Count = 0  # of the target, in the whole search
    alike: Count = 0  # further cases that failed as it did and were not searched
    cost_usd: Number | None = None
    reason: str = ""  # why nothing was found


class HunkCoverage(Struct, frozen=True, kw_only=True, gc=False):
    """Which cases differ from the head with this hunk alone put back, and which it is known to have lost."""

    hunk: Hunk
    new: bool = False  # the base has nothing in its place
    cases: tuple[str, ...] = ()  # the keys of those that differ
    p_value: Number | None = None  # of all cases together, if they differ and no single one surely does
    sure: bool = False  # the target is deterministic: every difference counts
    runs: Count = 1  # of each case, with the hunk and without
    unmeasured: Count = 0  # cases that could not be compared
    reason: str = ""  # why nothing was compared


class Blame(Struct, frozen=True, kw_only=True, gc=False):
    """What putting back the hunks of a change says about its cases."""

    base: str  # the commit
    hunks: Count  # that were put back
    files: Count
    uncommitted: bool = False  # the head has changes that are in no commit
    cases: tuple[BlamedCase, ...] = ()
    coverage: tuple[HunkCoverage, ...] = ()  # of the hunks that add or change text
