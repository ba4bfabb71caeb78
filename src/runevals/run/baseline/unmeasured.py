"""What a base's run could not measure, with its error."""

from __future__ import annotations

import re

from runevals.lib.text.numbers import plural
from runevals.records import CaseReport, Outcome, RunReport, cut_name
from runevals.records.errors import ExternalError, KeyRefused
from runevals.verdict.wording import first_error

LEAST_MEASURED = 0.8  # of a base's cases; with fewer, a run cannot be compared with it
LONGEST_ERROR = 240
_SAYS_WHAT = re.compile(r"\b\w*Error\b|[Cc]annot |[Nn]o such |[Nn]ot found")


def unmeasured_cases(report: RunReport) -> list[CaseReport]:
    """The cases that could not be measured completely; quarantined ones do not count."""
    return [case for case in report.cases if case.unmeasured and not case.quarantined]


def why_unmeasured(report: RunReport) -> str | None:
    """How many cases could not be measured, with the first error; None if all could."""
    cases = unmeasured_cases(report)
    return f"{len(cases)} of {plural(len(report.cases), 'case')}: {own_error(report)}" if cases else None


def own_error(report: RunReport) -> str:
    """The first error of its cases; of a long one, the part that says what was wrong."""
    error = next(filter(None, map(first_error, unmeasured_cases(report))), "all its checks are skipped")
    line = " ".join(error.split())
    if len(line) <= LONGEST_ERROR:
        return line
    match = _SAYS_WHAT.search(line)
    return f"…{line[1 - LONGEST_ERROR :]}" if match is None else cut_name(line[match.start() :], LONGEST_ERROR)


def measured_too_little(report: RunReport) -> str | None:
    """How few cases a base's run measured, with its own error; None if there are enough to compare with."""
    due = [case for case in report.cases if case.status is not Outcome.SKIPPED]
    measured = sum(bool(case.values) for case in due)
    if measured and measured >= LEAST_MEASURED * len(due):
        return None
    return f"it measured {measured} of {plural(len(due), 'case')}: {own_error(report)}"


def require_measured(report: RunReport) -> None:
    """Raises ExternalError with its own error for a base's run that measured too little, unless it was stopped."""
    why = measured_too_little(report)
    if why is not None and report.cases and report.run.stopped is None:
        raise (KeyRefused if "target_auth" in report.errors else ExternalError)(why)
