"""CSV with one row per check, for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from runevals.lib.nullable import if_known
from runevals.lib.text.escape import spreadsheet_cell
from runevals.records import LABELS, CheckResult, Conclusion
from runevals.reports.coverage import tripwire

COLUMNS = (
    "suite", "case", "name", "category", "attempt", "turn", "case_status", "check", "layer", "outcome", "value",
    "score", "threshold", "weight", "reason", "error", "prompt", "expected", "output", "latency_s", "cost_usd",
    *LABELS, "tripwire", "cached",
)  # fmt: skip


def stream(conclusion: Conclusion) -> Iterator[str]:
    """Yields header and rows, in the order of the results document; unknown values are empty cells."""
    writer = csv.writer(_Through(), lineterminator="\n")
    yield writer.writerow(COLUMNS)
    yield from (writer.writerow(row) for row in _rows(conclusion))


class _Through:
    """A file object that returns the text written to it."""

    def write(self, text: str) -> str:
        return text


def _rows(conclusion: Conclusion) -> Iterator[tuple[object, ...]]:
    for case in conclusion.report.cases:
        of_case = _cells(case.suite, case.key, case.name, case.category)
        labels = _cells(*(", ".join(case.labels[label]) if label in case.labels else None for label in LABELS))
        labels = (*labels, tripwire(case))
        for attempt in case.attempts:
            for number, turn in enumerate(attempt.turns, start=1):
                place = (*of_case, attempt.attempt, number, case.status.value)
                texts = _cells(turn.prompt, turn.expected, turn.output)
                cached = "cached" if turn.cached else None
                for result in turn.results:
                    yield (*place, *_of_check(result), *texts, turn.latency_s, turn.cost_usd, *labels, cached)


def _of_check(result: CheckResult) -> tuple[object, ...]:
    check, reason, error = _cells(result.id, result.reason, None if result.error is None else result.error.code)
    measured = (result.outcome.value, result.value, result.score, result.threshold, result.weight)
    return (check, result.layer.value, *measured, reason, error)


def _cells(*texts: str | None) -> tuple[str | None, ...]:
    return tuple([if_known(spreadsheet_cell, text) for text in texts])
