"""The overview of a page with several targets: a row of the table for each, and what each has to show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from runevals.lib.text.escape import one_line
from runevals.records import Conclusion, State, Totals
from runevals.reports import assistant
from runevals.reports.block import block_beside, block_of, data
from runevals.reports.page_overview import Figures, categories, overview
from runevals.reports.side_by_side import LONGEST, OUTCOMES, rows, standings
from runevals.verdict.causes import KINDS
from runevals.verdict.side_by_side import TargetColumn, columns_of

Json = dict[str, Any]
_ONE_FOR_ALL = frozenset({"Suite", "Head", "Judge", "Cases", "Ran"})


def overview_of_targets(conclusions: Mapping[str, Conclusion], pages: Mapping[str, str]) -> Json:
    """The data of the overview; `pages` are the file names of the targets' own pages, if they have any."""
    columns = columns_of(conclusions)
    each = {one_line(name, LONGEST): overview(conclusion) for name, conclusion in conclusions.items()}

    def of_each(part: str) -> Iterator[tuple[str, Any]]:
        return ((name, item) for name, one in each.items() for item in one[part])

    first = next(iter(each.values()))
    return first | {
        "outcome": _outcome(columns),
        "sides": list(each),
        "targets": _table(columns, pages),
        "sentences": standings(columns),
        "top": [fact for fact in first["top"] if fact[0] in _ONE_FOR_ALL],
        "gates": [
            gate | {"name": f"{name}: {gate['name']}"}
            for name, gate in of_each("gates")
            if gate["state"] != "passed"
        ],
        "compared": False,
        "causes": _causes(conclusions),
        "next": [(f"{what} ({name})", command) for name, (what, command) in of_each("next")],
        "assistant": assistant.render_several(conclusions),
        "prompts": list({prompt["path"]: prompt for _, prompt in of_each("prompts")}.values()),
        "blame": [f"{name}: {line}" for name, line in of_each("blame")],
        "coverage": list(dict.fromkeys(line for _, line in of_each("coverage"))),
        "categories": _categories(list(conclusions.values())),
        "statistics": [one | {"title": name} for name, one in of_each("statistics")],
        "run": [
            group if group["title"] == "Suites" else group | {"title": f"{name}: {group['title']}"}
            for name, group in of_each("run")
            if group["title"] != "Suites" or name == next(iter(each))
        ],
    }


def _outcome(columns: Sequence[TargetColumn]) -> str:
    """The worst; a target that may be worse than another stops nothing, and gets no tick."""
    outcomes = {column.conclusion.verdict.outcome for column in columns}
    against = [column.conclusion.against for column in columns]
    if worst := next((outcome for outcome in OUTCOMES if outcome in outcomes), None):
        return worst
    return "doubt" if any(one is not None and one.state is not State.NOT_WORSE for one in against) else "passed"


def _table(columns: Sequence[TargetColumn], pages: Mapping[str, str]) -> Json:
    """A row for each target: its state, its pass rate with the interval, cost and latency."""
    of_each = dict(rows(columns))
    return {
        "columns": ["Target", *of_each],
        "rows": [list(cells) for cells in zip(*of_each.values(), strict=True)],
        "pages": [quote(page, errors="replace") if (page := pages.get(each.name)) else None for each in columns],
    }


def _causes(conclusions: Mapping[str, Conclusion]) -> list[Json]:
    """What each has to show, and what it lost beside the one that it is compared with: folded if it has a base."""
    others = [one.against.name for one in conclusions.values() if one.against is not None]
    reference = next((name for name in others if name in conclusions), next(iter(conclusions)))
    causes: list[Json] = []
    for name, conclusion in conclusions.items():
        has_base = conclusion.comparison is not None
        if has_base or name == reference:
            causes += data(block_of(conclusion), name)
        if name != reference:
            beside = data(block_beside(conclusion.report, conclusions[reference].report, reference), name)
            kinds = ("lost", "better") if has_base else KINDS
            causes += [one | {"folded": has_base or one["folded"]} for one in beside if one["kind"] in kinds]
    return sorted(causes, key=lambda one: KINDS.index(one["kind"]))


def _categories(conclusions: Sequence[Conclusion]) -> list[Json]:
    reports = [conclusion.report for conclusion in conclusions]
    names = dict.fromkeys(name for report in reports for name in report.by_category)
    of_each = {name: [report.by_category.get(name) for report in reports] for name in names}
    return categories(
        _figures(None, [report.totals for report in reports]),
        [_figures(name, groups) for name, groups in of_each.items()],
    )


def _figures(name: str | None, groups: Sequence[Totals | None]) -> Figures:
    cases = max(0 if group is None else group.cases for group in groups)
    return name, cases, [None if group is None else group.pass_rate for group in groups]
