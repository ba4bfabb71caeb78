"""The cases that are lost: proven by themselves, or together with a part that is proven worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from statistics import fmean

from runevals.records import CaseReport, Change, Comparison, Finding, Reason, State
from runevals.verdict.matching import Key

CLEARED = frozenset({Reason.PASSED_AGAIN, Reason.BASE_ALIKE})  # by fresh runs
LEAST_PART = 0.5  # of the fall of a score: what fell less is as much by chance


def lost_keys(comparison: Comparison | None) -> frozenset[Key]:
    """Suite and key of each lost case: one that is proven lost in a form that both sides have, or a part of it."""
    if comparison is None:
        return frozenset()
    proven = {each.key for each in comparison.cases(State.WORSE) if not each.edited}
    proven |= {(change.suite, change.key) for change in comparison.lost_cases}
    return frozenset(proven.union(_lost_together(comparison, proven)))


def _lost_together(comparison: Comparison, proven: Set[Key]) -> Iterator[Key]:
    """What failed, or whose score fell, in the whole or a part that is worse by more than its proven cases."""
    settled = [change for change in comparison.changes if (change.suite, change.key) in proven]
    parts = [part for part in comparison.parts(State.WORSE) if not _is_explained(part, settled)]
    cleared = {each.key for each in comparison.cases(*State) if each.reason in CLEARED}
    for change in comparison.of_kind("regressed", "worse"):
        key = change.suite, change.key
        if key not in cleared and any(_explains(change, part) for part in parts):
            yield key


def _is_explained(part: Finding, settled: Sequence[Change]) -> bool:
    """Whether these cases explain the fall of this part: the others fell less than half as much."""
    drops = [drop for change in settled if (drop := _drop(change, part)) is not None]
    others = part.cases - len(drops)
    return part.drop * part.cases - sum(drops) < LEAST_PART * part.drop * others


def _explains(change: Change, part: Finding) -> bool:
    """Whether a case is one of those by which this part is worse."""
    drop = _drop(change, part)
    return drop is not None and drop >= LEAST_PART * part.drop


def _drop(change: Change, part: Finding) -> float | None:
    """What a case lost of the metric of a part; None if it is not in the part."""
    base, head = change.base, change.head
    if base is None or head is None or not _is_in(head, part):
        return None
    if part.metric == "pass_rate":
        return float(change.change == "regressed")
    return fmean(base.values) - fmean(head.values)


def _is_in(case: CaseReport, part: Finding) -> bool:
    own = {"whole": "", "suite": case.suite, "category": case.category, "group": case.group}
    return own[part.family] == part.name
