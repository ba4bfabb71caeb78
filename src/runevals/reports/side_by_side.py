"""Several targets in one table with a column each: on a screen, in Markdown, and as a page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Template
from urllib.parse import quote

from runevals.lib.text.escape import inert_line, one_line
from runevals.lib.text.numbers import money, percent, plural, score, seconds
from runevals.records import Conclusion, State
from runevals.reports.console import MARKS, verdict_mark
from runevals.reports.html import fingerprint, page_part
from runevals.verdict.side_by_side import CaseRow, SideBySide, TargetColumn, side_by_side
from runevals.verdict.wording import about_standing, standing

MOST_CASES = 200
LONGEST = 60  # of a name or a verdict in a table
OUTCOMES = {"failed": "failed", "unmeasured": "not measured"}  # that a headline names, in words
STATE_MARKS = {State.WORSE: "✗", State.NOT_KNOWN: "?", State.NOT_WORSE: "✓"}
Row = tuple[str, Sequence[str]]  # its name, and a cell for each target
# The page has no script, and may request nothing.
POLICY = "default-src 'none'; style-src '{style}'; base-uri 'none'; form-action 'none'"


def lines(conclusions: Mapping[str, Conclusion]) -> Iterator[str]:
    """The table for a screen, below the part of each target: aligned columns of plain text."""
    sides = side_by_side(conclusions)
    yield from (one_line(sentence, 500) for sentence in _standings(sides))
    table = [("", [one_line(column.name, LONGEST) for column in sides.columns]), *_rows(sides)]
    widths = [max(len(cell) for cell in column) for column in zip(*(cells for _, cells in table), strict=True)]
    first = max(len(name) for name, _ in table)
    for name, cells in table:
        aligned = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        yield f"{name:<{first}}  {'  '.join(aligned)}".rstrip()
    yield from (one_line(sentence, 500) for sentence in _sentences(sides, headlines_of=("unmeasured",)))


def render_markdown(conclusions: Mapping[str, Conclusion], *, headlines: bool = True) -> str:
    """The table for a job page or a comment, with the headlines of targets that did not pass."""
    sides = side_by_side(conclusions)
    head = [inert_line(column.name, LONGEST) for column in sides.columns]
    table = [
        f"| | {' | '.join(head)} |",
        f"|---|{'---:|' * len(head)}",
        *(f"| {name} | {' | '.join(map(inert_line, cells))} |" for name, cells in _rows(sides)),
    ]
    sentences = _sentences(sides) if headlines else _sentences(sides, headlines_of=())
    first = [f"**{inert_line(sentence)}**\n" for sentence in _standings(sides)]
    notes = [f"* {inert_line(sentence)}" for sentence in sentences]
    return "\n".join([*first, *table, "", *notes]).rstrip() + "\n"


def render_page(conclusions: Mapping[str, Conclusion], pages: Mapping[str, str]) -> str:
    """One page with a column for each target; `pages` are the file names of their own pages, if they have any."""
    sides = side_by_side(conclusions)
    style = page_part("targets.css")
    names = [one_line(column.name, LONGEST) for column in sides.columns]
    heads = [_linked(name, pages.get(column.name)) for name, column in zip(names, sides.columns, strict=True)]
    title = f"{' · '.join(names)}: {plural(sides.cases, 'case')}"
    return Template(page_part("targets.html")).substitute(
        policy=POLICY.format(style=fingerprint(style)),
        style=style,
        title=html.escape(title),
        headline=_headline(sides) + "".join(f"<p>{html.escape(each)}</p>" for each in _standings(sides)),
        heads="".join(f'<th scope="col">{head}</th>' for head in heads),
        verdicts=_html_row("Verdict", map(_coloured, sides.columns)),
        rows="\n".join(_html_row(name, map(html.escape, cells)) for name, cells in _numbers(sides)),
        sentences="\n".join(f"<p>{html.escape(one_line(sentence, 500))}</p>" for sentence in _sentences(sides)),
        differing=html.escape(_about_differing(sides)),
        cases="\n".join(_html_case(row, sides, pages) for row in sides.differing[:MOST_CASES]),
    )


def _rows(sides: SideBySide) -> Iterator[Row]:
    yield "Verdict", [_verdict(column) for column in sides.columns]
    yield from _numbers(sides)


def _numbers(sides: SideBySide) -> Iterator[Row]:
    columns = sides.columns
    against = [column.conclusion.against for column in columns]
    if reference := next((each.name for each in against if each is not None and each.state is not None), ""):
        yield f"Against {reference}", ["" if each is None else standing(each) for each in against]
    yield "Pass rate", [percent(column.totals.pass_rate) for column in columns]
    if any(column.totals.composite is not None for column in columns):
        yield "Score", [score(column.totals.composite) for column in columns]
    yield "Cost", [money(column.totals.cost_usd) for column in columns]
    yield "Latency, median", [seconds(column.latency_median_s) for column in columns]
    yield "Latency, p95", [seconds(column.totals.latency_p95_s) for column in columns]
    yield "Calls", [str(column.calls) for column in columns]
    yield "Not measured", [_errors(column) for column in columns]


def _verdict(column: TargetColumn) -> str:
    outcome = column.conclusion.verdict.outcome
    return OUTCOMES.get(outcome, outcome)


def _coloured(column: TargetColumn) -> str:
    mark = verdict_mark(column.conclusion)
    kind = next((outcome for outcome, of_outcome in MARKS.items() if of_outcome == mark), "unmeasured")
    return f'<span class="is-{kind}">{mark} {_verdict(column)}</span>'


def _headline(sides: SideBySide) -> str:
    """How many targets failed or were not measured, and which; else that all passed."""
    names = {
        outcome: [
            one_line(each.name, LONGEST) for each in sides.columns if each.conclusion.verdict.outcome == outcome
        ]
        for outcome in OUTCOMES
    }
    worst = next((outcome for outcome, of_outcome in names.items() if of_outcome), "passed")
    total = plural(len(sides.columns), "target")
    parts = [
        f"{len(each)} of {total} {OUTCOMES[outcome]}: {', '.join(each)}" for outcome, each in names.items() if each
    ]
    text = "; ".join(parts) or f"{total} passed"
    return f'<p class="headline is-{worst}">{MARKS[worst]} {html.escape(text)}</p>'


def _errors(column: TargetColumn) -> str:
    """The cases that could not be measured; all of them if the target could not be started."""
    return str(column.unmeasured) if column.totals.cases else "all"


def _sentences(sides: SideBySide, headlines_of: Sequence[str] = ("failed", "unmeasured")) -> Iterator[str]:
    """The headlines of the targets with one of these outcomes."""
    for column in sides.columns:
        conclusion = column.conclusion
        if conclusion.verdict.outcome in headlines_of:
            yield f"{column.name}: {conclusion.verdict.headline}"


def _standings(sides: SideBySide) -> list[str]:
    """Which targets are worse than the one that `--against` names, not worse, not known yet."""
    order = (State.WORSE, State.NOT_KNOWN, State.NOT_WORSE)
    known = [(c.name, c.conclusion.against) for c in sides.columns if c.conclusion.against is not None]
    return [
        f"{STATE_MARKS[state]} {about_standing(name, against)}"
        for state in order
        for name, against in known
        if against.state is state
    ]


def _about_differing(sides: SideBySide) -> str:
    number = len(sides.differing)
    if not number:
        return "Cases with different results: none"
    more = f", of which {MOST_CASES} are shown" if number > MOST_CASES else ""
    return f"Cases with different results: {number} of {sides.cases}{more}"


def _html_case(row: CaseRow, sides: SideBySide, pages: Mapping[str, str]) -> str:
    """How often each target passed it, with a link to the case in the target's own page."""
    key, suite = (quote(text, safe="", errors="replace") for text in (row.key, row.suite))
    cells = []
    for column, runs in zip(sides.columns, row.runs, strict=True):
        page = None if runs is None else pages.get(column.name)
        cells.append(_linked(_share(runs), None if page is None else f"{page}#case={key}&suite={suite}"))
    return _html_row(f"{row.key} ({row.suite})", cells)


def _share(runs: tuple[int, int] | None) -> str:
    return "–" if runs is None or not runs[1] else f"{runs[0]} of {runs[1]}"


def _html_row(name: str, cells: Iterable[str]) -> str:
    """A row of cells that are markup."""
    data = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{html.escape(one_line(name, 2 * LONGEST))}</th>{data}</tr>'


def _linked(name: str, page: str | None) -> str:
    text = html.escape(name)
    return text if page is None else f'<a href="{html.escape(page, quote=True)}">{text}</a>'
