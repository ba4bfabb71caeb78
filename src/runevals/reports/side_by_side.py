"""Several targets in one table with a column each: on a screen, in Markdown, and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from runevals.lib.nullable import known
from runevals.lib.statistics.agreement import Estimate
from runevals.lib.text.escape import inert_line, one_line
from runevals.lib.text.numbers import UNKNOWN, money, percent, plural, score, seconds
from runevals.records import AgainstComparison, Conclusion, State
from runevals.verdict.score import score_of
from runevals.verdict.side_by_side import TargetColumn, columns_of
from runevals.verdict.wording import about_standing, standing, stands

LONGEST = 60  # of a name or a verdict in a table
OUTCOMES = {"failed": "failed", "unmeasured": "not measured"}  # that a headline names, in words
STATE_MARKS = {State.WORSE: "✗", State.NOT_KNOWN: "?", State.NOT_WORSE: "✓"}
_MARKS_OF = {"passed": {State.WORSE: "!"}}  # no gate looked at it
Row = tuple[str, Sequence[str]]  # its name, and a cell for each target


def lines(conclusions: Mapping[str, Conclusion]) -> Iterator[str]:
    """The table for a screen, below the part of each target: aligned columns of plain text."""
    columns = columns_of(conclusions)
    yield from (one_line(sentence, 500) for sentence in standings(columns))
    table = [("", [one_line(column.name, LONGEST) for column in columns]), *rows(columns)]
    widths = [max(len(cell) for cell in column) for column in zip(*(cells for _, cells in table), strict=True)]
    first = max(len(name) for name, _ in table)
    for name, cells in table:
        aligned = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        yield f"{name:<{first}}  {'  '.join(aligned)}".rstrip()
    yield from (one_line(sentence, 500) for sentence in _sentences(columns, headlines_of=("unmeasured",)))


def render_markdown(conclusions: Mapping[str, Conclusion], *, headlines: bool = True) -> str:
    """The table for a job page or a comment, with the headlines of targets that did not pass."""
    columns = columns_of(conclusions)
    head = [inert_line(column.name, LONGEST) for column in columns]
    table = [
        f"| | {' | '.join(head)} |",
        f"|---|{'---:|' * len(head)}",
        *(f"| {name} | {' | '.join(map(inert_line, cells))} |" for name, cells in rows(columns)),
    ]
    sentences = _sentences(columns) if headlines else _sentences(columns, headlines_of=())
    first = [f"**{inert_line(sentence)}**\n" for sentence in standings(columns)]
    notes = [f"* {inert_line(sentence)}" for sentence in sentences]
    return "\n".join([*first, *table, "", *notes]).rstrip() + "\n"


def headline(columns: Sequence[TargetColumn]) -> str:
    """Which targets are worse than the one that `--against` names; how many failed or were not measured."""
    names = {
        outcome: [one_line(each.name, LONGEST) for each in columns if each.conclusion.verdict.outcome == outcome]
        for outcome in OUTCOMES
    }
    total = plural(len(columns), "target")
    counts = [
        f"{len(some)} of {total} {OUTCOMES[kind]}: {', '.join(some)}" for kind, some in names.items() if some
    ]
    by_state = [list(some) for _, some in groupby(_by_state(columns), itemgetter(0))]
    states = [stands([one_line(name, LONGEST) for _, name, _ in some], some[0][2]) for some in by_state]
    return "; ".join([*states, *counts]) or f"{total} passed"


def rows(columns: Sequence[TargetColumn]) -> Iterator[Row]:
    """What each target showed: its verdict and its numbers."""
    outcomes = [column.conclusion.verdict.outcome for column in columns]
    yield "Verdict", [OUTCOMES.get(outcome, outcome) for outcome in outcomes]
    against = [column.conclusion.against for column in columns]
    if reference := next((each.name for each in against if each is not None and each.state is not None), ""):
        yield f"Against {reference}", ["" if each is None else standing(each) for each in against]
    yield "Pass rate", [percent(column.conclusion.report.totals.pass_rate) for column in columns]
    yield "95 % interval", [_interval(column.rate) for column in columns]
    scores = [score_of(column.conclusion.report) for column in columns]
    if known(scores):
        yield "Score", [score(one) for one in scores]
    yield "Cost", [money(column.conclusion.report.totals.cost_usd) for column in columns]
    yield "Latency, median", [seconds(column.latency_median_s) for column in columns]
    yield "Latency, p95", [seconds(column.conclusion.report.totals.latency_p95_s) for column in columns]
    yield "Calls", [str(column.calls) for column in columns]
    # All of them, if the target could not be started.
    errors = [(column.conclusion.report.totals.cases, column.unmeasured) for column in columns]
    yield "Not measured", [str(unmeasured) if cases else "all" for cases, unmeasured in errors]


def _interval(rate: Estimate) -> str:
    return UNKNOWN if rate.low is None or rate.high is None else f"{100 * rate.low:.1f}–{100 * rate.high:.1f}"


def _sentences(
    columns: Sequence[TargetColumn], headlines_of: Sequence[str] = ("failed", "unmeasured")
) -> Iterator[str]:
    """The headlines of the targets with one of these outcomes."""
    for column in columns:
        conclusion = column.conclusion
        if conclusion.verdict.outcome in headlines_of:
            yield f"{column.name}: {conclusion.verdict.headline}"


def standings(columns: Sequence[TargetColumn]) -> list[str]:
    """Which targets are worse than the one that `--against` names (✗ if that blocks), not known, not worse."""
    marks = {column.name: STATE_MARKS | _MARKS_OF.get(column.conclusion.verdict.outcome, {}) for column in columns}
    return [f"{marks[name][state]} {about_standing(name, against)}" for state, name, against in _by_state(columns)]


def _by_state(columns: Sequence[TargetColumn]) -> list[tuple[State, str, AgainstComparison]]:
    known = [(c.name, c.conclusion.against) for c in columns if c.conclusion.against is not None]
    return [(state, *each) for state in STATE_MARKS for each in known if each[1].state is state]
