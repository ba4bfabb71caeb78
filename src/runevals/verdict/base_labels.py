"""The cases of a change as its base labels them, so that none leaves the scope of a gate."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from msgspec.structs import replace

from runevals.records import CaseReport, Comparison, RunReport, Weakening
from runevals.verdict.matching import Key, Pair, match

_LABELS = ("suite", "key", "category", "tags", "group")
_values = attrgetter(*_LABELS)  # of a case


def labelled_as_on_base(report: RunReport, comparison: Comparison) -> tuple[RunReport, Comparison]:
    """Both with the suite, key, category, tags and group that the base has for each of its cases.

    One that was renamed or moved is quarantined as on the base. Cases that the base does not have keep their own.
    """
    pairs = match(comparison.base.cases, report.cases).both
    relabelled = {pair.key: pair for pair in pairs if _values(pair.head) != _values(pair.base)}
    if not relabelled:
        return report, comparison
    changes = tuple(replace(one, head=one.head and _case(one.head, relabelled)) for one in comparison.changes)
    weakenings = tuple(_weakening(weakening, relabelled) for weakening in comparison.weakenings)
    cases = tuple(_case(case, relabelled) for case in report.cases)
    return replace(report, cases=cases), replace(comparison, changes=changes, weakenings=weakenings)


def _case(case: CaseReport, relabelled: Mapping[Key, Pair]) -> CaseReport:
    pair = relabelled.get((case.suite, case.key))
    if pair is None:
        return case
    return replace(case, **dict(zip(_LABELS, _values(pair.base), strict=True)), quarantined=pair.head.quarantined)


def _weakening(weakening: Weakening, relabelled: Mapping[Key, Pair]) -> Weakening:
    pair = relabelled.get((weakening.suite, weakening.key))
    return weakening if pair is None else replace(weakening, suite=pair.base.suite, key=pair.base.key)
