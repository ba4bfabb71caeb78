"""The comment on results of a fork's own run: counts of its cases, without any text of the document.

The author of the change controls the document: its headline, gates, reasons and notices cannot be trusted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runevals.lib.text.escape import code_cell
from runevals.lib.text.numbers import phrase
from runevals.records import CaseReport, Links, Outcome, RunReport
from runevals.reports.block import line_link
from runevals.verdict.score import over_attempts, over_turns
from runevals.verdict.totals import totals
from runevals.verdict.wording import passing
from runevals.version import __version__

MOST_CASES = 20
LONGEST_FILE = 200  # characters of a path that is linked to
_PLAIN_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/#-]{0,39}")  # no sentence fits into it
WARNING = (
    "> The author of this change controls that run and every number of it. Nothing here was measured, compared or "
    "approved by this repository."
)


def render(reports: Sequence[RunReport], links: Links, marker: str, author: str = "the fork") -> str:
    """The comment's text, which begins with `marker`, then names the author of the results; it is always short."""
    cases = [_scored(case) for report in reports for case in report.cases]
    run = phrase(links.run, "[run]({}) · ")
    parts = [
        f"{marker}\n### ⚠ Reported by {author}'s own run, not verified: {_counted(cases)}",
        WARNING,
        *_not_passing(cases, links),
        f"<sub>{run}counted from the cases of its results document · runevals {__version__}</sub>",
    ]
    return "\n\n".join(parts) + "\n"


def all_pass(reports: Sequence[RunReport]) -> bool:
    """Whether there are cases, and each of them passes."""
    cases = [_scored(case) for report in reports for case in report.cases]
    return bool(cases) and all(case.status is Outcome.PASSED for case in cases)


def _scored(case: CaseReport) -> CaseReport:
    """The case, computed again from its own checks."""
    return over_attempts(case, [over_turns(attempt.attempt, attempt.turns) for attempt in case.attempts])


def _counted(cases: Sequence[CaseReport]) -> str:
    counts = totals(cases)
    if counts.cases == counts.skipped:
        return "no case was measured"
    return passing(counts, phrase(counts.errored, ", {} could not be measured"))


def _not_passing(cases: Sequence[CaseReport], links: Links) -> list[str]:
    statuses = (Outcome.FAILED, Outcome.ERRORED)
    rows = [(place, case) for place, case in enumerate(cases, start=1) if case.status in statuses]
    if not rows:
        return []
    lines = ["| case | outcome | line |", "|---|---|--:|"]
    for place, case in rows[:MOST_CASES]:
        key = code_cell(case.key) if _PLAIN_KEY.fullmatch(case.key) else f"number {place}"
        line = line_link(case, links) if len(case.file) <= LONGEST_FILE else ""
        lines.append(f"| {key} | {case.status} | {line} |")
    if len(rows) > MOST_CASES:
        lines.append(f"| … and {len(rows) - MOST_CASES} more | | |")
    return ["\n".join(lines)]
