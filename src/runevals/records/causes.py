"""What was lost, not known, failing, not measured or better, as groups of cases with one cause."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from runevals.records.values import Ordinal, Whole

CauseKind = Literal["lost", "not_known", "unproven", "new", "failing", "unmeasured", "better"]


class CaseName(Struct, frozen=True, kw_only=True, gc=False):
    """A case, by what identifies it in a report."""

    suite: str
    key: str
    called: str = ""  # in sentences


class CauseRow(Struct, frozen=True, kw_only=True):
    """Cases of a group that failed in one way."""

    check: str = ""  # the evaluator; empty: nothing failed, or nothing was measured
    reason: str = ""  # the most frequent
    cases: Ordinal
    examples: tuple[CaseName, ...]  # the clearest first


class CauseGroup(Struct, frozen=True, kw_only=True):
    """The cases of one label, or those that no label explains."""

    label: str = ""  # category, group, tag, suite or a label of the author; empty: other cases
    name: str = ""
    cases: Ordinal
    measured: Whole  # cases with this label
    base_passed: Whole | None = None  # of these; None: there is no base
    head_passed: Whole
    rows: tuple[CauseRow, ...]
    more: tuple[CaseName, ...] = ()  # the first cases that are in no row

    @property
    def left_out(self) -> int:
        """Cases that are in no row."""
        return self.cases - sum(row.cases for row in self.rows)


class Causes(Struct, frozen=True, kw_only=True):
    """The cases of one kind, in groups, the largest first."""

    kind: CauseKind
    cases: Ordinal
    groups: tuple[CauseGroup, ...]
