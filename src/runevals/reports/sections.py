"""The parts of a report as Markdown: for the job summary, and the comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from runevals.lib.text.escape import code_cell, fenced, inert_line
from runevals.lib.text.numbers import capitalised
from runevals.records import Conclusion, Links
from runevals.reports import assistant
from runevals.reports.answer_diff import answer_diff
from runevals.reports.block import markdown
from runevals.reports.next_steps import Where
from runevals.reports.parts import (
    FAILED,
    NO_LINKS,
    NOTHING,
    PASSED,
    PLAIN,
    WARNS,
    Line,
    Part,
    Report,
    Table,
    footer,
    look,
    report_of,
)

# The worst first.
MARKS = {"failed": "❌", "unmeasured": "⛔", "doubt": "⚠️", "skipped": "⚪", "no base": "⚪", "passed": "✅"}
_SIGNS = {WARNS: "⚠ ", PASSED: "✅ ", FAILED: "❌ ", NOTHING: "⚪ ", PLAIN: ""}
_AMOUNT = re.compile(r"<code>&#36;</code>(?=[\d.]+$)")
MOST_DIFFS = 10
MOST_LINES = 20  # of a part
LONGEST_HEADLINE = 500
LONGEST_PARAGRAPH = 1500
LONGEST_LINES = 10_000  # of a part together: names full of signs that are escaped


class Section(Struct, frozen=True):
    """A piece of Markdown. If there is no room for all, those with the highest rank are removed first; 0 stays."""

    text: str
    name: str = ""  # names it for readers if it is left out
    rank: int = 0


def summary(conclusion: Conclusion) -> str:
    """Every section, whatever its length, as Markdown for the job page and for reading."""
    return "\n\n".join(section.text for section in sections(conclusion, where=Where())) + "\n"


def sections(conclusion: Conclusion, links: Links = NO_LINKS, where: Where | None = None) -> Iterator[Section]:
    """Most important first: verdict, one sentence of numbers, what was lost, what to do. The rest is folded."""
    yield Section("### {} {}".format(*headline(conclusion)))
    report = report_of(conclusion, links, where)
    parts = [Section(_text(part, report, links), part.name, part.rank) for part in report.parts]
    folds = (place for place, part in enumerate(report.parts) if part.folded)
    parts.insert(next(folds, len(parts)), Section(_answers(report), "changed answers", 6))
    yield from (part for part in parts if part.text)
    if links.run is not None and report.block.causes:
        text = fenced(assistant.render(conclusion, where), "markdown")
        yield Section(folded("For a coding assistant", text), "the text for an assistant", 9)
    yield Section(f"<sub>{_footer(conclusion, links)}</sub>")


def headline(conclusion: Conclusion) -> tuple[str, str]:
    """The icon of the verdict, and the verdict in words."""
    return MARKS[look(conclusion)], inert_line(conclusion.verdict.headline, LONGEST_HEADLINE)


def _text(part: Part, report: Report, links: Links) -> str:
    body = [
        _as_list(part),
        _table(part.table),
        "" if part.change is None else fenced(part.change.diff, "diff"),
        "" if part.causes is None else markdown(report.block, part.causes, links),
        fenced("\n".join(f"{command}  # {what}" for what, command in part.commands), "sh")
        if part.commands
        else "",
    ]
    text = "\n\n".join(filter(None, body))
    if not part.title:
        return text
    if part.folded:
        return folded(inert_line(part.title), text)
    path = "" if part.change is None else f" {code_cell(part.change.path, 120)}"
    return f"**{inert_line(part.title)}**{path}\n{'' if part.change else chr(10)}{text}"


def _as_list(part: Part) -> str:
    """Lines as a list; a single one without a title is a paragraph."""
    lines: Sequence[Line] = part.lines
    if part.sentences:
        lines = [(mark, f"{capitalised(text)}.") for mark, text in lines]
    texts = [f"{_SIGNS[mark]}{_inert(text, LONGEST_PARAGRAPH)}" for mark, text in lines[:MOST_LINES]]
    while sum(map(len, texts)) > LONGEST_LINES:
        texts.pop()
    if part.bold:
        texts = [re.sub(r"[\d.]+ % → [\d.]+ %", r"**\g<0>**", text, count=1) for text in texts]
    if len(lines) > len(texts):
        texts.append(f"… and {len(lines) - len(texts)} more")
    return texts[0] if not part.title and len(texts) == 1 else "\n".join(f"* {text}" for text in texts)


def _inert(text: str, limit: int = 200) -> str:
    """`text` without active markup; an amount at its end, which is ours, keeps its dollar sign as it is."""
    return _AMOUNT.sub("$", inert_line(text, limit))


def _table(table: Table) -> str:
    if not table:
        return ""
    rule = f"|---|{'--:|' * (len(table[0]) - 1)}"
    head, *rows = (f"| {' | '.join(map(_inert, row))} |" for row in table)
    return "\n".join([head, rule, *rows])


def _answers(report: Report) -> str:
    """What changed in the answers of the examples."""
    examples = (example for example in report.block.examples(report.lost) if not example.against)
    texts = (answer_diff(example.case.key, example.before, example.after) for example in examples)
    diffs = [*islice(filter(None, texts), MOST_DIFFS)]
    return folded("What changed in the answers", "\n\n".join(diffs)) if diffs else ""


def _footer(conclusion: Conclusion, links: Links) -> str:
    run = [] if links.run is None else [f"[run]({links.run})", f"[report]({links.run}#artifacts)"]
    pieces = [_inert(piece, 160) for piece in footer(conclusion)]
    return " · ".join([*pieces, *run, f"runevals {inert_line(conclusion.report.tool_version, 40)}"])


def folded(title: str, body: str) -> str:
    """A folded section. `title` must be trusted."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"
