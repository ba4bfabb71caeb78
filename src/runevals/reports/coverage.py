"""What the cases cover, and whether tripwires tripped: not part of any score."""

from __future__ import annotations

from collections.abc import Iterator

from runevals.lib.text.escape import code_cell, one_line
from runevals.lib.text.numbers import and_more, percent, plural
from runevals.records import CaseReport, Coverage, RunReport, Totals

MOST_GROUPS = 20
MOST_TRIPWIRES = 20


def plain(report: RunReport) -> Iterator[str]:
    """Lines of plain text; none if the cases have no labels."""
    if report.coverage:
        yield from ("", "Coverage (cases passed)")
    width = max((len(coverage.label) for coverage in report.coverage), default=0)
    for coverage in report.coverage:
        counts = [f"{one_line(name, 40)} {_ratio(t)}" for name, t in _first_groups(coverage)]
        yield f"  {coverage.label:<{width}}  {', '.join([*counts, *_rest(coverage)])}"
    wires = _tripwires(report)
    if wires:
        yield from ("", "Tripwires")
    for case in wires[:MOST_TRIPWIRES]:
        yield f"  {one_line(case.key, 60)}  {_tripwire_text(case)}"
    yield from (f"  {line}" for line in and_more(wires, MOST_TRIPWIRES))


def markdown(report: RunReport) -> Iterator[str]:
    """The same as sections of Markdown."""
    if report.coverage:
        lines = ["| | | cases | passed | pass rate |", "|---|---|--:|--:|--:|"]
        for coverage in report.coverage:
            for name, t in _first_groups(coverage):
                cells = (
                    coverage.label,
                    code_cell(name, 60),
                    str(t.cases - t.skipped),
                    str(t.passed),
                    percent(t.pass_rate),
                )
                lines.append(f"| {' | '.join(cells)} |")
            lines += [f"| {coverage.label} | {rest} | | | |" for rest in _rest(coverage)]
        yield "<details><summary>Coverage</summary>\n\n" + "\n".join(lines) + "\n\n</details>"
    wires = _tripwires(report)
    if wires:
        texts = [f"{code_cell(case.key, 80)} {_tripwire_text(case)}" for case in wires[:MOST_TRIPWIRES]]
        yield f"**Tripwires** {' · '.join([*texts, *and_more(wires, MOST_TRIPWIRES)])}"


def _ratio(totals: Totals) -> str:
    """Passed of those that were to be run; "–" if there are none."""
    due = totals.cases - totals.skipped
    return f"{totals.passed}/{due}" if due else "–"


def tripwire(case: CaseReport) -> str | None:
    """The result of a tripwire; None if the case is not one or was not measured."""
    return None if case.tripped is None else "tripped" if case.tripped else "tripwire did not trip"


def _tripwire_text(case: CaseReport) -> str:
    return tripwire(case) or "not measured"


def _tripwires(report: RunReport) -> list[CaseReport]:
    return [case for case in report.cases if case.tripwire]


def _first_groups(coverage: Coverage) -> Iterator[tuple[str, Totals]]:
    yield from list(coverage.groups.items())[:MOST_GROUPS]


def _rest(coverage: Coverage) -> list[str]:
    without = [f"{plural(coverage.without, 'case')} without"] if coverage.without else []
    return [*and_more(coverage.groups, MOST_GROUPS), *without]
