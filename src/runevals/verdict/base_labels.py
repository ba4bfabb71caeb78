"""The cases of a change as its base labels them, so that none leaves the scope of a gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from runevals.records import CaseReport, Change, Comparison, RunReport, Weakening
from runevals.verdict.matching import match

Key = tuple[str, str]  # suite and key


def labelled_as_on_base(report: RunReport, comparison: Comparison) -> tuple[RunReport, Comparison]:
    """Both with the suite, key, category, tags and group that the base has for each of its cases.

    One that was renamed or moved is quarantined as on the base. Cases that the base does not have keep their own.
    """
    pairs = match(comparison.base.cases, report.cases).both
    of_base = {_key(pair.head): pair.base for pair in pairs if _labels(pair.head) != _labels(pair.base)}
    if not of_base:
        return report, comparison
    changes = tuple(_change(change, of_base) for change in comparison.changes)
    weakenings = tuple(_weakening(weakening, of_base) for weakening in comparison.weakenings)
    cases = tuple(_case(case, of_base) for case in report.cases)
    return replace(report, cases=cases), replace(comparison, changes=changes, weakenings=weakenings)


def _key(case: CaseReport) -> Key:
    return case.suite, case.key


def _labels(case: CaseReport) -> tuple[object, ...]:
    return case.suite, case.key, case.category, case.tags, case.group


def _case(case: CaseReport, of_base: Mapping[Key, CaseReport]) -> CaseReport:
    base = of_base.get(_key(case))
    if base is None:
        return case
    quarantined = case.quarantined if _key(case) == _key(base) else base.quarantined
    return replace(
        case,
        suite=base.suite,
        key=base.key,
        category=base.category,
        tags=base.tags,
        group=base.group,
        quarantined=quarantined,
    )


def _change(change: Change, of_base: Mapping[Key, CaseReport]) -> Change:
    return change if change.head is None else replace(change, head=_case(change.head, of_base))


def _weakening(weakening: Weakening, of_base: Mapping[Key, CaseReport]) -> Weakening:
    base = of_base.get((weakening.suite, weakening.key))
    return weakening if base is None else replace(weakening, suite=base.suite, key=base.key)
