"""The final screen: the verdict, what was lost and why, what to do next."""

from __future__ import annotations

from collections.abc import Iterator

from runevals.lib.text.escape import one_line, visible
from runevals.lib.text.numbers import limited
from runevals.records import Conclusion
from runevals.reports.block import Block, plain
from runevals.reports.next_steps import Where
from runevals.reports.parts import GATE_MARKS, Part, Table, footer, report_of
from runevals.verdict.wording import doubtful, is_ungated

NAME = "console"
FILENAME = "summary.txt"
MARKS = {"passed": "✓", "failed": "✗", "unmeasured": "!", "skipped": "–"}
MOST_OF_DIFF = 20  # lines of a changed text
LONGEST = 1000  # characters of a sentence
DIFF = "    | "  # before each line of a diff, so that a terminal knows it


def render(conclusion: Conclusion, where: Where | None = None) -> str:
    """Plain text; the first line is the verdict. `where` is where its reader types commands."""
    return "\n".join(_lines(conclusion, where)) + "\n"


def verdict_mark(conclusion: Conclusion) -> str:
    """The sign before the headline; a run without gates gets no tick."""
    if doubtful(conclusion):
        return "⚠"
    ungated = is_ungated(conclusion.report, conclusion.comparison, conclusion.gates)
    passed = conclusion.verdict.outcome == "passed"
    return MARKS["skipped" if ungated and passed else conclusion.verdict.outcome]


def _lines(conclusion: Conclusion, where: Where | None) -> Iterator[str]:
    yield f"{verdict_mark(conclusion)} {conclusion.verdict.headline}"
    report = report_of(conclusion, where=where)
    for part in report.parts:
        if part.on_screen:
            yield from _part(part, report.block)
    yield ""
    if conclusion.gates:
        yield "Gates  " + "  ".join(f"{GATE_MARKS[gate.state]} {one_line(gate.name)}" for gate in conclusion.gates)
    yield f"       {' · '.join(one_line(piece, 160) for piece in footer(conclusion))}"


def _table(table: Table) -> Iterator[str]:
    """Its columns below each other."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()


def _part(part: Part, block: Block) -> Iterator[str]:
    if part.title:
        path = "" if part.change is None else f"  {one_line(part.change.path, 120)}"
        yield from ("", part.title + path)
    yield from (f"  {' '.join(filter(None, (mark, one_line(text, LONGEST))))}" for mark, text in part.lines)
    yield from _table(part.table)
    if part.change is not None:
        lines = [f"{DIFF}{line}" for line in visible(part.change.diff).split("\n")]
        yield from lines[:MOST_OF_DIFF]
        yield from (f"  {line}" for line in limited(lines, MOST_OF_DIFF)[MOST_OF_DIFF:])
    if part.causes is not None:
        yield from plain(block, part.causes)
    width = max((len(what) for what, _ in part.commands), default=0)
    yield from (f"  {what:<{width}}  {command}" for what, command in part.commands)
