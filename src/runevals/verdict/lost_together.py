"""The cases that are lost together with a part that is proven worse, though none is proven lost by itself."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from runevals.records import CaseReport, Change, Comparison, Finding, Reason, State

CLEARED = frozenset({Reason.PASSED_AGAIN, Reason.BASE_ALIKE})  # by fresh runs
LEAST_PART = 0.5  # of the fall of a score: what fell less is as much by chance


def lost_together(comparison: Comparison | None) -> frozenset[tuple[str, str]]:
    """Suite and key of each case that failed, or whose score fell, in the whole or a part that is proven worse."""
    return frozenset() if comparison is None else frozenset(_lost(comparison))


def _lost(comparison: Comparison) -> Iterator[tuple[str, str]]:
    parts = comparison.parts(State.WORSE)
    cleared = {each.key for each in comparison.cases(*State) if each.reason in CLEARED}
    for change in comparison.of_kind("regressed", "worse"):
        key = change.suite, change.key
        if key not in cleared and any(_explains(change, part) for part in parts):
            yield key


def _explains(change: Change, part: Finding) -> bool:
    """Whether a case is one of those by which this part is worse."""
    base, head = change.base, change.head
    if base is None or head is None or not _is_in(head, part):
        return False
    if part.metric == "pass_rate":
        return change.change == "regressed"
    return fmean(base.values) - fmean(head.values) >= LEAST_PART * part.drop


def _is_in(case: CaseReport, part: Finding) -> bool:
    own = {"whole": "", "suite": case.suite, "category": case.category, "group": case.group}
    return own[part.family] == part.name
