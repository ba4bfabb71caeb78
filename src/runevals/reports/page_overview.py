"""The page's overview of the run: verdict, charts, statistics, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from runevals.lib.text.escape import one_line, visible
from runevals.lib.text.numbers import UNKNOWN, money, p_value, percent, plural, points, relative, seconds
from runevals.records import Comparison, Conclusion, Coverage, ModelIdentity, RunReport
from runevals.reports import assistant, skill_matrix
from runevals.reports.blame import coverage_lines, lines
from runevals.reports.block import block_of, data
from runevals.reports.coverage import tripwire
from runevals.reports.identity import endings, suite_names, target_name
from runevals.reports.next_steps import Where, next_steps
from runevals.reports.page_cases import CasePair
from runevals.reports.page_charts import latencies, scores
from runevals.reports.parts import ARMS, arms, numbers_in_short
from runevals.verdict.wording import (
    about_against,
    about_mark,
    case_notes,
    compared_cases,
    doubtful,
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


def overview(conclusion: Conclusion, pairs: Sequence[CasePair]) -> Json:
    """The data of the overview."""
    report, comparison = conclusion.report, conclusion.comparison
    headline = conclusion.verdict.headline.casefold()
    no_base = comparison is None and conclusion.verdict.outcome == "passed"
    return {
        "outcome": "doubt" if doubtful(conclusion) else "no base" if no_base else conclusion.verdict.outcome,
        "sentences": _sentences(conclusion),
        "top": _known(_top(report, comparison)),
        "gates": [
            {
                "name": one_line(gate.name),
                "state": gate.state.value,
                "reason": "" if gate.reason.casefold() == headline else one_line(gate.reason),
            }
            for gate in conclusion.gates
        ],
        "compared": comparison is not None,
        "causes": data(block_of(conclusion)),
        "next": next_steps(conclusion, block_of(conclusion).causes, None if report.run.of_tool else Where()),
        "assistant": assistant.render(conclusion),
        "prompts": [
            {"title": title_of_change(change), "path": one_line(change.path, 200), "diff": visible(change.diff)}
            for change in conclusion.prompt_changes
        ],
        "blame": lines(conclusion.blame),
        "coverage": coverage_lines(conclusion.blame),
        "categories": _categories(report, comparison),
        "charts": [chart for chart in (scores(pairs), latencies(pairs)) if chart is not None],
        "statistics": _statistics(conclusion),
        "run": _run(report, comparison),
    }


def _sentences(conclusion: Conclusion) -> list[str]:
    numbers = [one_line(text, 500) for part in numbers_in_short(conclusion) for _, text in part.lines]
    return [*map(one_line, endings(conclusion.report.run)), *numbers]


def _top(report: RunReport, comparison: Comparison | None) -> Facts:
    run = report.run
    base = None if comparison is None else comparison.base
    cost = money(report.totals.cost_usd)
    if base is not None and base.totals.cost_usd is not None:
        cost = f"{money(base.totals.cost_usd)} → {cost}"
    if report.totals.judge_cost_usd is not None:
        cost = f"{cost}, judge {money(report.totals.judge_cost_usd)}"
    runs = f", {run.repeat} runs each" if run.repeat > 1 else ""
    return [
        ("Suite", suite_names(run.suites)),
        ("Base", "" if comparison is None or base is None else _of(comparison)),
        ("Head", f"{run.ref or ''}{_commit(report)}".strip()),
        ("Target", target_name(run.target)),
        ("Judge", "" if run.judge is None else target_name(run.judge)),
        ("Cases", plural(report.totals.cases, "case") + runs),
        ("Cost", cost),
        ("Ran", f"{_moment(run.started_at)}, {seconds(run.duration_s)}"),
    ]


def _categories(report: RunReport, comparison: Comparison | None) -> list[Json]:
    """The worst loss first, all cases before it; for a run without a base the lowest pass rate first."""
    if comparison is None or not comparison.categories:
        categories = [(name, group.cases, None, group.pass_rate) for name, group in report.by_category.items()]
        categories.sort(key=lambda group: 1.0 if group[3] is None else group[3])
        everything = (None, report.totals.cases, None, report.totals.pass_rate)
        return [
            _category("All cases", everything),
            *(_category(_category_name(group[0]), group) for group in categories),
        ]
    compared = [(group.name, group.cases, group.base_rate, group.head_rate) for group in comparison.categories]
    compared.sort(key=lambda group: (group[3] or 0.0) - (group[2] or 0.0))
    rates = comparison.base_totals.pass_rate, comparison.head_totals.pass_rate
    if comparison.metric == "pass_rate" and comparison.drop is not None:
        rates = comparison.base_mean, comparison.head_mean
    shared = _category("All cases", (None, comparison.shared, *rates))
    if len(compared) == 1 and compared[0][0] is None:
        return [shared]
    return [shared, *(_category(_category_name(group[0]), group) for group in compared)]


def _category(title: str, group: tuple[str | None, int, float | None, float | None]) -> Json:
    name, cases, base, head = group
    return {
        "name": title,
        "filter": None if name is None else one_line(name),
        "cases": plural(cases, "case"),
        "base": base,
        "head": head,
        "rates": percent(head) if base is None else f"{percent(base)} → {percent(head)}",
        "change": "" if base is None or head is None else points(head - base),
    }


def _category_name(category: str | None) -> str:
    return "no category" if category is None else one_line(category)


def _statistics(conclusion: Conclusion) -> Json:
    report, comparison = conclusion.report, conclusion.comparison
    mark, against = conclusion.mark, conclusion.against
    since = ("Since the mark", "" if mark is None else about_mark(mark))
    worth = ("Worth", "" if against is None else f"{about_against(against)} {same_on_both_sides(against)}".strip())
    skills = [] if conclusion.skill_matrix is None else list(skill_matrix.lines(conclusion.skill_matrix))
    notices = [*skills, *(one_line(notice, 500) for notice in report.run.notices)]
    shown_above = ("category",)  # by the picture
    labels = [one for one in report.coverage if one.label not in shown_above]
    tables = [*map(_covered, labels), *_tripwires(report), *_skills(conclusion), *_arms(conclusion)]
    if comparison is None:
        facts = _known([("Compared", "Nothing: there was no base."), worth, since])
        return {"facts": facts, "tables": tables, "notes": notices}
    facts = [
        ("Compared", compared_cases(comparison)),
        ("How sure", " ".join(how_sure(comparison))),
        ("Smaller drops", halved(comparison)),
        worth,
        since,
        ("Run again", comparison.fresh),
        ("Single cases", "; ".join((*lost_checks(comparison), *case_notes(comparison)))),
        ("Tool paths", other_paths(comparison)),
    ]
    return {
        "facts": _known(facts),
        "tables": [*(table for table in (_metrics(comparison), _flaky(comparison)) if table["rows"]), *tables],
        "notes": [one_line(f"{which}: {message}", 500) for which, message in weakened(comparison)]
        + [one_line(f"{change.former_key} is now {change.key}", 500) for change in comparison.renamed]
        + [one_line(caveat, 500) for caveat in comparison.caveats]
        + notices,
    }


def _covered(coverage: Coverage) -> Json:
    rows = [
        [one_line(name, 80), str(group.cases), str(group.passed), percent(group.pass_rate)]
        for name, group in coverage.groups.items()
    ]
    rows += [["says nothing", str(coverage.without), "", ""]] if coverage.without else []
    return {
        "title": f"What the cases cover: {coverage.label}",
        "columns": [coverage.label, "cases", "passed", "pass rate"],
        "rows": rows,
    }


def _tripwires(report: RunReport) -> list[Json]:
    rows = [[one_line(case.key, 80), text] for case in report.cases if (text := tripwire(case)) is not None]
    return [{"title": "Tripwires", "columns": ["case", ""], "rows": rows}] if rows else []


def _skills(conclusion: Conclusion) -> list[Json]:
    table = () if conclusion.skill_matrix is None else skill_matrix.table(conclusion.skill_matrix)
    return [{"title": skill_matrix.TITLE, "columns": table[0], "rows": table[1:]}] if table else []


def _arms(conclusion: Conclusion) -> list[Json]:
    table = arms(() if conclusion.against is None else conclusion.against.arms)
    return [{"title": ARMS, "columns": table[0], "rows": table[1:]}] if table[1:] else []


def _metrics(comparison: Comparison) -> Json:
    return {
        "title": "Other metrics, corrected together",
        "columns": ["metric", "cases", "base", "head", "change", "p (corrected)"],
        "rows": [
            [
                one_line(metric.name.removeprefix("evaluator:")),
                str(metric.cases),
                in_unit(metric, metric.base_mean),
                in_unit(metric, metric.head_mean),
                points(-metric.loss) if metric.unit == "share" else relative(metric.base_mean, metric.head_mean),
                p_value(metric.holm_p),
            ]
            for metric in comparison.metrics
        ],
    }


def _flaky(comparison: Comparison) -> Json:
    return {
        "title": "Flaky: how often two runs of the same case differ",
        "columns": ["case", "differ", "runs seen"],
        "rows": [[one_line(case.key), percent(case.rate), str(case.runs)] for case in comparison.flaky],
    }


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
        ("Started", _moment(run.started_at)),
        ("Took", seconds(run.duration_s)),
        ("Cases", ", ".join(f"{number} {name}" for name, number in counts.items() if number)),
        ("Runs a case", str(run.repeat)),
        ("Target", _model(run.target)),
        *(("Target's " + name, value) for name, value in _identity(run.target)),
        ("Judge", "" if run.judge is None else _model(run.judge)),
        *(("Judge's " + name, value) for name, value in ([] if run.judge is None else _identity(run.judge))),
        ("Cost of target", money(totals.cost_usd)),
        ("Cost of judge", money(totals.judge_cost_usd)),
        ("Prices as of", run.prices or ""),
        ("Tokens", _tokens(totals.input_tokens, totals.output_tokens)),
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


def _model(identity: ModelIdentity) -> str:
    return f"{identity.model} ({identity.type})" if identity.model else identity.type


def _tokens(into: int | None, out: int | None) -> str:
    return (
        ""
        if into is None and out is None
        else f"{UNKNOWN if into is None else into} in, {UNKNOWN if out is None else out} out"
    )


def _of(comparison: Comparison) -> str:
    commit = (comparison.base.run.commit or "")[:7]
    return comparison.source if commit in comparison.source else f"{comparison.source} ({commit})"


def _commit(report: RunReport) -> str:
    return "" if report.run.commit is None else f" {report.run.commit[:7]}"


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value(item)}" for name, item in value.items())
    return ", ".join(map(_value, value)) if isinstance(value, list | tuple) else str(value)


def _known(facts: Facts) -> Facts:
    return [(one_line(name), one_line(value, 500)) for name, value in facts if value not in ("", UNKNOWN)]
