"""Links to the parts of a run."""

from __future__ import annotations

from msgspec import Struct


class Links(Struct, frozen=True, kw_only=True, gc=False):
    """Web addresses; None if there is none."""

    files: str | None = None  # of the repository's files at the commit that was run, ends in a slash
    run: str | None = None
    head: str | None = None  # that commit
