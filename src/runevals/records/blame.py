"""Which hunks of a change lost its cases."""

from __future__ import annotations

from typing import Literal

from runevals.records.quick_dataclass import dataclass

# removed: the head has nothing of it, and its lines are those of the base; file: the whole file is one hunk
HunkKind = Literal["changed", "removed", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Neighbouring lines that a change replaced, added or removed; `first` and `last` count from 1."""

    path: str  # relative to the repository
    first: int = 0
    last: int = 0
    kind: HunkKind = "changed"

    @property
    def place(self) -> str:
        """The file with its lines: `prompts/support.md:14–15`."""
        if self.kind == "file":
            return f"{self.path} (the whole file)"
        lines = f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"
        return f"{self.path}:{lines}" + (" of the base, removed" if self.kind == "removed" else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlamedCase:
    """A lost case with the hunks that lost it, or the reason why they are not known.

    Of the runs, `head` are those of the change as it is, and `restored` those with `put_back` put back. If nothing
    was found, all hunks were put back.
    """

    suite: str
    key: str
    hunks: tuple[Hunk, ...] = ()  # that lost it; several: only together, or each alone if all are in `put_back`
    put_back: tuple[Hunk, ...] = ()  # the fewest that restore it
    head_passed: int = 0
    head_runs: int = 0
    restored_passed: int = 0
    restored_runs: int = 0
    calls: int = 0  # of the target, in the whole search
    cost_usd: float | None = None
    reason: str = ""  # why nothing was found


@dataclass(frozen=True, slots=True, kw_only=True)
class HunkCoverage:
    """Which cases differ from the head with this hunk alone put back."""

    hunk: Hunk
    new: bool = False  # the base has nothing in its place
    cases: tuple[str, ...] = ()  # the keys of those that differ
    p_value: float | None = None  # of all cases together, if they differ and no single one surely does
    sure: bool = False  # the target is deterministic: every difference counts
    runs: int = 1  # of each case, with the hunk and without
    unmeasured: int = 0  # cases that could not be compared
    reason: str = ""  # why nothing was compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """What putting back the hunks of a change says about its cases."""

    base: str  # the commit
    hunks: int  # that were put back
    files: int
    uncommitted: bool = False  # the head has changes that are in no commit
    cases: tuple[BlamedCase, ...] = ()
    coverage: tuple[HunkCoverage, ...] = ()  # of the hunks that add or change text
