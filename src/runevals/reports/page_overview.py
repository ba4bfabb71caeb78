"""The page's overview of the run: verdict, charts, statistics, settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runevals.lib.nullable import if_known
from runevals.lib.text.escape import one_line, visible
from runevals.lib.text.numbers import UNKNOWN, count, money, p_value, percent, plural, points, relative, seconds
from runevals.records import Comparison, Conclusion, Coverage, ModelIdentity, RunReport
from runevals.reports import assistant, skill_matrix
from runevals.reports.blame import coverage_lines, lines
from runevals.reports.block import block_of, data
from runevals.reports.coverage import tripwire
from runevals.reports.identity import endings, moment, suite_names, target_name
from runevals.reports.next_steps import Where, next_steps
from runevals.reports.parts import ARMS, Table, arms, look, numbers_in_short, pass_rates
from runevals.verdict.wording import (
    about_against,
    about_mark,
    case_notes,
    compared_cases,
    error_kinds,
    halved,
    how_sure,
    in_unit,
    lost_checks,
    other_paths,
    same_on_both_sides,
    title_of_change,
    weakened,
)

Json = dict[str, Any]
Facts = list[tuple[str, str]]
Figures = tuple[str | None, int, Sequence[float | None]]  # of a category: its cases, and the rate of each side


def overview(conclusion: Conclusion) -> Json:
    """The data of the overview."""
    report, comparison = conclusion.report, conclusion.comparison
    headline, block = conclusion.verdict.headline.casefold(), block_of(conclusion)
    numbers = [one_line(text, 500) for part in numbers_in_short(conclusion) for _, text in part.lines]
    return {
        "run_id": report.run.started_at.isoformat(),
        "outcome": look(conclusion),
        "sides": ["Base", "This run"],
        "targets": None,
        "sentences": [*map(one_line, endings(report.run)), *numbers],
        "top": _known(_top(conclusion)),
        "gates": [
            {
                "name": one_line(gate.name),
                "state": gate.state.value,
                "reason": "" if gate.reason.casefold() == headline else one_line(gate.reason),
            }
            for gate in conclusion.gates
        ],
        "compared": comparison is not None,
        "causes": data(block),
        "next": next_steps(conclusion, block.causes, None if report.run.of_tool else Where()),
        "assistant": assistant.render(conclusion),
        "prompts": [
            {"title": title_of_change(change), "path": one_line(change.path, 200), "diff": visible(change.diff)}
            for change in conclusion.prompt_changes
        ],
        "blame": lines(conclusion.blame),
        "coverage": coverage_lines(conclusion.blame),
        "categories": _by_category(report, comparison),
        "statistics": [_statistics(conclusion)],
        "run": _run(report, comparison),
    }


def _top(conclusion: Conclusion) -> Facts:
    report, comparison = conclusion.report, conclusion.comparison
    run = report.run
    base = None if comparison is None else comparison.base
    cost = money(report.totals.cost_usd)
    if base is not None and base.totals.cost_usd is not None:
        cost = f"{money(base.totals.cost_usd)} → {cost}"
    if report.totals.judge_cost_usd is not None:
        cost = f"{cost}, judge {money(report.totals.judge_cost_usd)}"
    return [
        ("Suite", suite_names(run.suites)),
        ("Base", "" if comparison is None else _of(comparison)),
        ("Head", f"{run.ref or ''} {(run.commit or '')[:7]}".strip()),
        ("Target", target_name(run.target)),
        ("Judge", "" if run.judge is None else target_name(run.judge)),
        ("Cases", plural(report.totals.cases, "case") + (f", {run.repeat} runs each" if run.repeat > 1 else "")),
        ("Strength", conclusion.strength),
        ("Cost", cost),
        ("Ran", f"{moment(run)}, {seconds(run.duration_s)}"),
    ]


def _by_category(report: RunReport, comparison: Comparison | None) -> list[Json]:
    """The pass rates of both sides; those of the base are unknown if there is none."""
    if comparison is None or not comparison.categories:
        groups: list[Figures] = [
            (name, group.cases, (None, group.pass_rate)) for name, group in report.by_category.items()
        ]
        return categories((None, report.totals.cases, (None, report.totals.pass_rate)), groups)
    groups = [(group.name, group.cases, (group.base_rate, group.head_rate)) for group in comparison.categories]
    is_one = len(groups) == 1 and groups[0][0] is None
    return categories((None, comparison.shared, pass_rates(comparison)), [] if is_one else groups)


def categories(everything: Figures, groups: Sequence[Figures]) -> list[Json]:
    """All cases, then the worst loss first; without another side the lowest pass rate first."""
    each = [_dumbbell("no category" if group[0] is None else one_line(group[0]), group) for group in groups]
    return [_dumbbell("All cases", everything), *sorted(each, key=lambda one: one["rank"])]


def _dumbbell(title: str, group: Figures) -> Json:
    """The first side beside the one that differs most from it."""
    name, cases, rates = group
    first = rates[0]
    other = max(rates[1:], key=lambda rate: -1.0 if rate is None or first is None else abs(rate - first))
    gain = None if other is None or first is None else other - first
    return {
        "name": title,
        "filter": if_known(one_line, name),
        "cases": plural(cases, "case"),
        "rates": list(rates),
        "told": percent(other) if first is None else f"{percent(first)} → {percent(other)}",
        "change": "" if gain is None else points(gain),
        "rank": (1.0 if other is None else other) if gain is None else gain,
    }


def _statistics(conclusion: Conclusion) -> Json:
    comparison, mark, against = conclusion.comparison, conclusion.mark, conclusion.against
    worth = "" if against is None else f"{about_against(against)} {same_on_both_sides(against)}".strip()
    facts = [("Compared", "Nothing: there was no base.")] if comparison is None else _compared(comparison)
    facts += [("Worth", worth), ("Since the mark", "" if mark is None else about_mark(mark))]
    return {
        "facts": _known(facts),
        "tables": [
            {"title": title, "columns": table[0], "rows": table[1:]}
            for title, table in _tables(conclusion)
            if table[1:]
        ],
        "notes": [one_line(note, 500) for note in _notes(conclusion)],
    }


def _compared(comparison: Comparison) -> Facts:
    return [
        ("Compared", compared_cases(comparison)),
        ("How sure", " ".join(how_sure(comparison))),
        ("Smaller drops", halved(comparison)),
        ("Run again", comparison.fresh),
        ("Single cases", "; ".join((*lost_checks(comparison), *case_notes(comparison)))),
        ("Tool paths", other_paths(comparison)),
    ]


def _notes(conclusion: Conclusion) -> Iterator[str]:
    if (comparison := conclusion.comparison) is not None:
        yield from (f"{which}: {message}" for which, message in weakened(comparison))
        yield from (f"{change.former_key} is now {change.key}" for change in comparison.renamed)
        yield from comparison.caveats
    if conclusion.skill_matrix is not None:
        yield from skill_matrix.lines(conclusion.skill_matrix)
    yield from conclusion.report.run.notices


def _tables(conclusion: Conclusion) -> Iterator[tuple[str, Table]]:
    """Titles and tables; the first row is the head."""
    report, comparison, matrix = conclusion.report, conclusion.comparison, conclusion.skill_matrix
    if comparison is not None:
        yield "Other metrics, corrected together", tuple(_metrics(comparison))
        flaky = ((one_line(case.key), percent(case.rate), str(case.runs)) for case in comparison.flaky)
        yield "Flaky: how often two runs of the same case differ", (("case", "differ", "runs seen"), *flaky)
    for coverage in report.coverage:
        if coverage.label != "category":  # the picture has them
            yield f"What the cases cover: {coverage.label}", tuple(_covered(coverage))
    traps = ((one_line(case.key, 80), text) for case in report.cases if (text := tripwire(case)) is not None)
    yield "Tripwires", (("case", ""), *traps)
    yield skill_matrix.TITLE, () if matrix is None else skill_matrix.table(matrix)
    yield ARMS, arms(() if conclusion.against is None else conclusion.against.arms)


def _covered(coverage: Coverage) -> Iterator[tuple[str, ...]]:
    yield coverage.label, "cases", "passed", "pass rate"
    for name, group in coverage.groups.items():
        yield one_line(name, 80), str(group.cases), str(group.passed), percent(group.pass_rate)
    if coverage.without:
        yield "says nothing", str(coverage.without), "", ""


def _metrics(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    yield "metric", "cases", "base", "head", "change", "p (corrected)"
    for metric in comparison.metrics:
        means = metric.base_mean, metric.head_mean
        change = points(-metric.loss) if metric.unit == "share" else relative(*means)
        name = one_line(metric.name.removeprefix("evaluator:"))
        yield name, str(metric.cases), *(in_unit(metric, mean) for mean in means), change, p_value(metric.holm_p)


def _run(report: RunReport, comparison: Comparison | None) -> list[Json]:
    groups: list[tuple[str, Facts]] = [("Head", _side(report))]
    if comparison is not None:
        groups.append(("Base", [("Result", comparison.source), *_side(comparison.base)]))
    groups.append(
        ("Suites", [(suite.path, f"{suite.dialect}, {suite.fingerprint[:12]}") for suite in report.run.suites])
    )
    groups.append(("Settings", [(name, _value(value)) for name, value in report.run.settings.items()]))
    tables = [{"title": title, "facts": _known(facts)} for title, facts in groups]
    return [group for group in tables if group["facts"]]


def _side(report: RunReport) -> Facts:
    run, totals = report.run, report.totals
    counts = {
        "passed": totals.passed,
        "failed": totals.failed,
        "errored": totals.errored,
        "skipped": totals.skipped,
    }
    return [
        ("Commit", run.commit or ""),
        ("Ref", run.ref or ""),
        ("Started", moment(run)),
        ("Took", seconds(run.duration_s)),
        ("Cases", ", ".join(f"{number} {name}" for name, number in counts.items() if number)),
        ("Runs a case", str(run.repeat)),
        ("Target", target_name(run.target)),
        *(("Target's " + name, value) for name, value in _identity(run.target)),
        ("Judge", "" if run.judge is None else target_name(run.judge)),
        *(("Judge's " + name, value) for name, value in ([] if run.judge is None else _identity(run.judge))),
        ("Cost of target", money(totals.cost_usd)),
        ("Cost of judge", money(totals.judge_cost_usd)),
        ("Prices as of", run.prices or ""),
        ("Tokens in", count(totals.input_tokens)),
        ("Tokens out", count(totals.output_tokens)),
        ("Latency p95", seconds(totals.latency_p95_s)),
        ("Not measured", error_kinds(report)),
        ("Complete", "" if report.complete else "no: the run was stopped"),
        ("Sandbox", run.sandbox or ""),
        ("Versions", f"runevals {report.tool_version}" + (f", Python {run.python}" if run.python else "")),
    ]


def _identity(identity: ModelIdentity) -> Facts:
    details = {name: value for name, value in identity.detail.items() if value not in (None, "", [], {})}
    return [
        ("model, as reported", ", ".join(identity.reported)),
        ("prompt", "" if identity.prompt_hash is None else identity.prompt_hash[:12]),
        ("details", ", ".join(f"{name} {_value(value)}" for name, value in details.items())),
        ("answers", "always the same" if identity.deterministic else ""),
    ]


def _of(comparison: Comparison) -> str:
    commit = (comparison.base.run.commit or "")[:7]
    return comparison.source if commit in comparison.source else f"{comparison.source} ({commit})"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value(item)}" for name, item in value.items())
    return ", ".join(map(_value, value)) if isinstance(value, list | tuple) else str(value)


def _known(facts: Facts) -> Facts:
    return [(one_line(name), one_line(value, 500)) for name, value in facts if value not in ("", UNKNOWN)]
