"""What a base's own run could not measure, with its own error."""

from __future__ import annotations

from runevals.lib.text.numbers import plural
from runevals.records import CaseReport, RunReport
from runevals.verdict.wording import first_error

LONGEST_ERROR = 300


def unmeasured_cases(report: RunReport) -> list[CaseReport]:
    """The cases of which something could not be measured; quarantined ones do not count."""
    return [case for case in report.cases if case.unmeasured and not case.quarantined]


def why_unmeasured(report: RunReport) -> str | None:
    """How many cases could not be measured, with the first error; None if all could."""
    cases = unmeasured_cases(report)
    return f"{len(cases)} of {plural(len(report.cases), 'case')}: {own_error(report)}" if cases else None


def own_error(report: RunReport) -> str:
    """The first error of its cases: its end, where a program says what was wrong."""
    error = next(filter(None, map(first_error, unmeasured_cases(report))), "no error is named")
    return " ".join(error.split())[-LONGEST_ERROR:]
