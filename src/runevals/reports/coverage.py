"""What the cases cover, and whether tripwires tripped: not part of any score."""

from __future__ import annotations

from collections.abc import Iterator

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import limited, plural
from runevals.records import CaseReport, Coverage, RunReport, Totals
from runevals.verdict.totals import groups_without_cases

MOST_GROUPS = 20
MOST_TRIPWIRES = 20


def parts(report: RunReport) -> Iterator[tuple[str, list[str]]]:
    """A title with its lines for the labels of the cases, and for tripwires; nothing if there are none."""
    if report.coverage:
        lines = limited(groups_without_cases(report), MOST_GROUPS, one_line)
        yield "Coverage (cases passed)", [*(_of_label(coverage) for coverage in report.coverage), *lines]
    wires = [case for case in report.cases if case.tripwire]
    if wires:
        lines = limited(wires, MOST_TRIPWIRES, lambda case: f"{case.key}: {tripwire(case) or 'not measured'}")
        yield "Tripwires", lines


def _of_label(coverage: Coverage) -> str:
    counts = [f"{one_line(name, 40)} {_ratio(totals)}" for name, totals in coverage.groups.items()]
    without = [f"{plural(coverage.without, 'case')} without"] if coverage.without else []
    return f"{coverage.label}: {', '.join([*limited(counts, MOST_GROUPS), *without])}"


def _ratio(totals: Totals) -> str:
    """Passed of those that were to be run; "–" if there are none."""
    due = totals.cases - totals.skipped
    return f"{totals.passed}/{due}" if due else "–"


def tripwire(case: CaseReport) -> str | None:
    """The result of a tripwire; None if the case is not one or was not measured."""
    return None if case.tripped is None else "tripped" if case.tripped else "tripwire did not trip"
