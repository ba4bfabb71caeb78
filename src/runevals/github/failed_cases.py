"""Which cases of a failing run are marked in the files of the change."""

from __future__ import annotations

from runevals.github.annotations import Mark
from runevals.records import CaseReport, Change, Conclusion, Outcome
from runevals.verdict.wording import failed_checks, runs_passed


def marks(conclusion: Conclusion) -> list[Mark]:
    """The regressed cases of a failing run, the worst first; if none regressed, the failing ones."""
    if conclusion.verdict.outcome != "failed":
        return []
    comparison = conclusion.comparison
    lost = () if comparison is None else comparison.lost_cases or comparison.of_kind("regressed")
    if lost:
        both = [(change, change.head) for change in sorted(lost, key=_how_bad, reverse=True)]
        return [_regressed(change, head) for change, head in both if head is not None]
    return [_mark(case, "fails", "") for case in conclusion.report.cases if case.status is Outcome.FAILED]


def _how_bad(change: Change) -> tuple[bool, float, float]:
    """Critical ones, then those that lost most runs, then those that lost most score."""
    if change.base is None or change.head is None:
        return False, 0.0, 0.0
    sides = ((side.pass_rate or 0.0, side.share or 0.0) for side in (change.base, change.head))
    (runs, score), (runs_now, score_now) = sides
    return change.head.critical, runs - runs_now, score - score_now


def _regressed(change: Change, head: CaseReport) -> Mark:
    runs = "" if change.base is None else f"{runs_passed(change.base)} → {runs_passed(head)} runs passed; "
    return _mark(head, "regressed" if change.label == "confirmed" else "fails now", runs)


def _mark(case: CaseReport, what: str, runs: str) -> Mark:
    why = "".join(failed_checks(case)[:1])
    return Mark(file=case.file, line=case.line, title=f"{case.key} {what}", message=f"{runs}{why}" or what)
