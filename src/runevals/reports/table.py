"""CSV with one row per check, for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from runevals.lib.text.escape import spreadsheet_cell
from runevals.records import LABELS, Conclusion
from runevals.reports.coverage import tripwire

NAME = "table"
FILENAME = "results.csv"

COLUMNS = (
    "suite", "case", "name", "category", "attempt", "turn", "case_status", "check", "layer", "outcome", "value",
    "score", "threshold", "weight", "reason", "error", "prompt", "expected", "output", "latency_s", "cost_usd",
    *LABELS, "tripwire", "cached",
)  # fmt: skip


def render(conclusion: Conclusion) -> str:
    """Header and rows, in the order of the results document; unknown values are empty cells."""
    return "".join(stream(conclusion))


def stream(conclusion: Conclusion) -> Iterator[str]:
    """The same text row by row."""
    writer = csv.writer(_Through(), lineterminator="\n")
    yield writer.writerow(COLUMNS)
    for row in _rows(conclusion):
        yield writer.writerow(row)


class _Through:
    """A file object that returns the text written to it."""

    def write(self, text: str) -> str:
        return text


def _rows(conclusion: Conclusion) -> Iterator[list[object]]:
    for case in conclusion.report.cases:
        for attempt in case.attempts:
            for number, turn in enumerate(attempt.turns, start=1):
                for result in turn.results:
                    row = (
                        case.suite,
                        case.key,
                        case.name,
                        case.category,
                        attempt.attempt,
                        number,
                        case.status.value,
                        result.id,
                        result.layer.value,
                        result.outcome.value,
                        result.value,
                        result.score,
                        result.threshold,
                        result.weight,
                        result.reason,
                        None if result.error is None else result.error.code,
                        turn.prompt,
                        turn.expected,
                        turn.output,
                        turn.latency_s,
                        turn.cost_usd,
                        *(", ".join(case.labels[label]) if label in case.labels else None for label in LABELS),
                        tripwire(case),
                        "cached" if turn.cached else None,
                    )
                    yield [spreadsheet_cell(cell) if isinstance(cell, str) else cell for cell in row]
