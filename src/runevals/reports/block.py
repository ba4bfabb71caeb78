"""Groups of cases with their examples, on a screen, in Markdown, and as data of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from runevals.lib.text.escape import both_ends, code_cell, one_line, visible
from runevals.lib.text.numbers import limited, phrase, plural
from runevals.records import (
    CaseName,
    CaseReport,
    CauseGroup,
    CauseKind,
    CauseRow,
    Causes,
    Change,
    Comparison,
    Conclusion,
    Links,
    RunReport,
)
from runevals.reports.answer_diff import changed_steps
from runevals.verdict.causes import MOST_EXAMPLES, causes
from runevals.verdict.matching import Key
from runevals.verdict.wording import answer_pair, failed_checks, first_failure, fresh_runs, runs_passed

MOST_CHECKS = 5  # of a case
MOST_COMPARED = 100_000  # characters of an answer
WORDS_BEFORE = 40  # characters before the first difference
TITLES: Mapping[CauseKind, str] = {
    "lost": "Lost",
    "not_known": "Not known",
    "unproven": "Failing now, no loss proven",
    "unmeasured": "Could not be measured",
    "new": "New failures",
    "failing": "Failing before and now",
    "better": "Better",
}
_ALONE: Mapping[CauseKind, str] = {**TITLES, "failing": "Failing"}  # without a base
_NAMED_LABELS = frozenset({"group", "tag", "suite"})  # whose names say nothing without them


class Example(Struct, frozen=True):
    """A case as a reader sees it: what failed, and what changed in its answer."""

    case: CaseReport
    runs: str
    checks: Sequence[str]  # each with its reason
    steps: tuple[str, str] | None
    before: str
    after: str
    against: str = ""  # what `before` is, if it is no answer

    @property
    def name(self) -> str:
        """What the case is called beside its key; empty if nothing."""
        return "" if self.case.name == self.case.key else self.case.name

    @property
    def place(self) -> str:
        """The line of its suite."""
        return self.case.file if self.case.line is None else f"{self.case.file}:{self.case.line}"


class Block(Struct, frozen=True):
    """The groups of a conclusion, and the cases that they name."""

    causes: tuple[Causes, ...]
    example_of: Callable[[CaseName], Example]
    compared: bool
    titles: Mapping[CauseKind, str]

    def examples(self, some: Iterable[Causes]) -> Iterator[Example]:
        """Two of each row."""
        rows = (row for one in some for group in one.groups for row in group.rows)
        return (self.example_of(name) for row in rows for name in row.examples[:MOST_EXAMPLES])

    def is_folded(self, one: Causes) -> bool:
        """Whether it opens on a click: what is better, and what failed before unless it is all there is."""
        is_first = one is self.causes[0] and not self.compared
        return one.kind == "better" or (one.kind == "failing" and not is_first)

    def title(self, one: Causes) -> str:
        """What a kind of cases is called."""
        return self.titles[one.kind]


def block_of(conclusion: Conclusion) -> Block:
    """What a conclusion has to show."""
    comparison = conclusion.comparison
    every = causes(conclusion.report, comparison)
    changes = {} if comparison is None else {(change.suite, change.key): change for change in comparison.changes}
    example_of = _examples(conclusion.report, every, changes, comparison)
    return Block(every, example_of, comparison is not None, TITLES if comparison is not None else _ALONE)


def block_beside(report: RunReport, other: RunReport, name: str) -> Block:
    """What a target has to show beside another of this name."""
    from runevals.verdict.side_by_side import causes_beside, differences  # of several targets

    changes = differences(report, other)
    every = causes_beside(report, changes)
    titles = {**_ALONE, "lost": f"Lost against {name}", "better": f"Better than {name}"}
    return Block(every, _examples(report, every, changes, None), compared=False, titles=titles)


def _examples(
    report: RunReport, every: Sequence[Causes], changes: Mapping[Key, Change], comparison: Comparison | None
) -> Callable[[CaseName], Example]:
    heads = {(case.suite, case.key): case for case in report.cases} if every else {}

    def example_of(name: CaseName) -> Example:
        key = name.suite, name.key
        case, change = heads[key], changes.get(key)
        runs = runs_passed(case) if len(case.attempts) > 1 else ""
        before, after, against = _answers(case, change)
        steps = None
        if change is not None and change.base is not None:
            again = "" if comparison is None else fresh_runs(comparison, change)
            runs = f"{runs_passed(change.base)} → {runs_passed(case)}{phrase(again, ', {}')}"
            steps = changed_steps(change)
        return Example(case, runs, failed_checks(case), steps, before, after, against)

    return example_of


def _answers(case: CaseReport, change: Change | None) -> tuple[str, str, str]:
    """What changed: both answers, or what was expected and the answer that has not got it."""
    if change is not None and (answers := answer_pair(change)) is not None:
        return *(answers if answers[0] != answers[1] else ("", "")), ""
    failure = first_failure(case)
    expected, answer = ("", "") if failure is None else (failure[0].expected or "", failure[0].output or "")
    return (expected, answer, "expected") if expected not in answer else ("", "", "")


def plain(block: Block, one: Causes) -> Iterator[str]:
    """The lines for a screen, below the title."""
    for group in one.groups:
        indent = "  "
        if heading := _heading(group, alone=len(one.groups) == 1):
            yield f"  {'  '.join(heading)}"
            indent = "    "
        for row in group.rows:
            yield from (f"{indent}{line}" for line in _plain_row(block, row))
        yield from (f"{indent}{line}" for line in _left_out(group))


def _plain_row(block: Block, row: CauseRow) -> Iterator[str]:
    for example in _examples_of(block, row):
        if row.cases > MOST_EXAMPLES:
            yield "  ".join(filter(None, (_what(row), f"{row.cases:,} ×", _names(row))))
        else:
            yield from _plain_case(example, row)
        if example.steps is not None:
            yield f"    steps: {example.steps[1]}, on the base {example.steps[0]}"
        yield from difference(example)


def _examples_of(block: Block, row: CauseRow) -> Iterator[Example]:
    """The cases of a row, or one of them if they are many: then the row says what they have in common."""
    return map(block.example_of, row.examples if row.cases <= MOST_EXAMPLES else row.examples[:1])


def _what(row: CauseRow) -> str:
    return both_ends(": ".join(filter(None, (row.check, row.reason))))


def _fails(example: Example, row: CauseRow) -> list[str]:
    """What fails in a case, or why it was not measured; of many, what they have in common."""
    texts = [_what(row)] if row.cases > MOST_EXAMPLES else example.checks or [row.reason]
    return [both_ends(text) for text in texts if text]


def _plain_case(example: Example, row: CauseRow) -> Iterator[str]:
    case = example.case
    yield f"{one_line(case.key, 60)}{phrase(one_line(example.name, 70), '  {}')}  {example.runs}".rstrip()
    checks = limited(_fails(example, row), MOST_CHECKS)
    places = chain([f"   ({one_line(example.place, 120)})"], repeat(""))
    yield from (f"    {text}{place}" for text, place in zip(checks, places, strict=False))
    if case.notes is not None:
        yield f"    notes: {one_line(case.notes, 240)}"


def difference(example: Example) -> Iterator[str]:
    """Both answers, from where they differ."""
    if example.before != example.after:
        answers = [one_line(text, MOST_COMPARED) for text in (example.before, example.after)]
        words = ("", "") if not example.against else (f"{example.against}: ", "answered: ")
        sides = zip("−+", words, _from_the_difference(*answers), strict=True)
        yield from (f"    {sign} {word}{one_line(text, 160)}" for sign, word, text in sides)


def _from_the_difference(base: str, head: str) -> tuple[str, str]:
    """Both answers without their common beginning, except its last words."""
    pairs = enumerate(zip(base, head, strict=False))
    same = next((place for place, (a, b) in pairs if a != b), min(len(base), len(head)))
    if same <= 2 * WORDS_BEFORE:
        return base, head
    start = base.rfind(" ", 0, same - WORDS_BEFORE) + 1 or same - WORDS_BEFORE
    return f"…{base[start:]}", f"…{head[start:]}"


def _heading(group: CauseGroup, *, alone: bool) -> tuple[str, ...]:
    """("shipping", "349/349 → 0/349"); empty if there is nothing to tell this group from."""
    if not group.label:
        return () if alone else ("other cases", f"{group.cases:,} ×")
    name = one_line(f"{group.label} {group.name}" if group.label in _NAMED_LABELS else group.name, 80)
    if group.base_passed is None:
        return name, f"{group.cases:,} of {plural(group.measured, 'case')}"
    of = f"/{group.measured:,}"
    return name, f"{group.base_passed:,}{of} → {group.head_passed:,}{of}"


def _names(row: CauseRow) -> str:
    names = [one_line(name.called, 60) for name in row.examples]
    first = names if row.cases <= len(names) else names[:MOST_EXAMPLES]
    return ", ".join(first) + phrase(row.cases - len(first), " and {:,} more")


def _left_out(group: CauseGroup) -> Iterator[str]:
    """How many cases of a group are in no row, with the first of them."""
    if group.left_out:
        names = [one_line(name.called, 60) for name in group.more]
        rest = ["…"] if group.left_out > len(names) else []
        yield f"… and {plural(group.left_out, 'more case')}: {', '.join([*names, *rest])}"


def markdown(block: Block, one: Causes, links: Links) -> str:
    """The groups as a table."""
    fails = "why" if one.kind == "unmeasured" else "checks that fail now"
    lines = [f"| case | passed | {fails} | line |", "|---|:-:|---|--:|"]
    for group in one.groups:
        if heading := _heading(group, alone=len(one.groups) == 1):
            lines.append(f"| **{code_cell(heading[0], 80)}** | {heading[1]} | | |")
        lines += [_markdown_row(each, row, links) for row in group.rows for each in _examples_of(block, row)]
        lines += [f"| {code_cell(line, 300)} | | | |" for line in _left_out(group)]
    return "\n".join(lines)


def _markdown_row(example: Example, row: CauseRow, links: Links) -> str:
    case, steps = example.case, example.steps
    if row.cases > MOST_EXAMPLES:
        name, runs = code_cell(_names(row), 200), plural(row.cases, "case")
    else:
        notes = phrase(case.notes and code_cell(case.notes, 200), "<br>notes: {}")
        title = phrase(example.name and code_cell(example.name, 80), " {}")
        name, runs = f"{code_cell(case.key, 80)}{title}{notes}", example.runs
    lines = limited(_fails(example, row), MOST_CHECKS, lambda text: code_cell(text, 220))
    if steps is not None:
        lines.append(f"steps: {code_cell(steps[1])}, on the base {code_cell(steps[0])}")
    return f"| {name} | {runs} | {'<br>'.join(lines)} | {line_link(case, links)} |"


def line_link(case: CaseReport, links: Links) -> str:
    """The line of the suite, with a link if its file can only be inside the repository."""
    if case.line is None:
        return ""
    parts = case.file.split("/")
    if links.files is None or "\\" in case.file or any(part in ("", ".", "..") for part in parts):
        return str(case.line)
    path = quote(case.file.encode("utf-8", "backslashreplace"), safe="/")
    return f"[{case.line}]({links.files}{path}#L{case.line})"


def data(block: Block, target: str = "") -> list[dict[str, Any]]:
    """The groups for the page; of several targets, those of one."""
    return [
        {
            "kind": one.kind,
            "title": one_line(f"{phrase(target, '{}: ')}{block.title(one)}", 200),
            "cases": one.cases,
            "folded": block.is_folded(one),
            "groups": [
                {
                    "heading": _heading(group, alone=len(one.groups) == 1),
                    "category": group.name if group.label == "category" else None,
                    "rows": [_row_data(block, row) for row in group.rows],
                    "more": list(_left_out(group)),
                }
                for group in one.groups
            ],
        }
        for one in block.causes
    ]


def _row_data(block: Block, row: CauseRow) -> dict[str, Any]:
    return {
        "what": _what(row),
        "cases": row.cases,
        "examples": [
            {
                "suite": visible(example.case.suite),
                "key": one_line(example.case.key, 500),
                "name": one_line(example.name, 120),
                "runs": example.runs,
                "difference": list(difference(example)),
            }
            for example in [block.example_of(name) for name in row.examples[:MOST_EXAMPLES]]
        ],
    }


def sentences(one: Causes) -> Iterator[str]:
    """One line of plain text for each row: where, what, how often, and an example."""
    for group in one.groups:
        for row in group.rows:
            what = ": ".join(filter(None, (" ".join(_heading(group, alone=len(one.groups) == 1)), _what(row))))
            yield one_line(f"{what} ({row.cases:,} ×: {_names(row)})", 500)
