"""Which skills were loaded for which queries."""

from __future__ import annotations

from msgspec import Struct

from runevals.records.numbers import Count


class SkillUse(Struct, frozen=True, kw_only=True):
    """The runs of queries for one set of skills in which one set of skills was loaded; an empty set is none."""

    asks_for: tuple[str, ...]  # the skills that are to be loaded
    loads: tuple[str, ...]
    head_runs: Count
    base_runs: Count | None = None  # None: there is no base


class SkillMatrix(Struct, frozen=True, kw_only=True):
    """All of them, of the trigger queries of several skills; with a base, of the queries of both sides."""

    cases: Count
    uses: tuple[SkillUse, ...]
