"""Links to the parts of a run."""

from __future__ import annotations

from runevals.records.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Web addresses; None if there is none."""

    files: str | None = None  # of the repository's files at the commit that was run, ends in a slash
    run: str | None = None
    head: str | None = None  # that commit
