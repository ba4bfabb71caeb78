"""The verdict as Markdown: the job summary, and what a reader of a pull request wants first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runevals.inert import code_cell, fenced, inert_line
from runevals.records import (
    CaseReport,
    Change,
    Comparison,
    Conclusion,
    GateState,
    RunReport,
)
from runevals.reporters import coverage
from runevals.wording import (
    answer_pair,
    because,
    edited_and_failing,
    error_kinds,
    first_error,
    first_failure,
    headline_numbers,
    how_sure,
    judge_notes,
    money,
    other_metrics,
    percent,
    plural,
    runs_passed,
    score,
    seconds,
    signed,
    still_failing,
)

NAME = "summary"
FILENAME = "summary.md"
MARKS = {"passed": "✅", "failed": "❌", "unmeasured": "⛔", "skipped": "⚪"}
GATE_MARKS = {
    GateState.PASSED: "✅",
    GateState.FAILED: "❌",
    GateState.WARNED: "⚠",
    GateState.NOT_APPLICABLE: "⚪",
}
MOST_ROWS = 50
MOST_DIFFS = 10
MOST_FLAKY = 10


def render(conclusion: Conclusion) -> str:
    """Verdict first, then how sure, then what to look at."""
    return "\n\n".join(_sections(conclusion)) + "\n"


def _sections(conclusion: Conclusion) -> Iterator[str]:
    report, comparison = conclusion.report, conclusion.comparison
    no_base = comparison is None and conclusion.verdict.outcome == "passed"
    mark = "⚪" if no_base else MARKS[conclusion.verdict.outcome]
    yield f"### {mark} {inert_line(conclusion.verdict.headline)}"
    if comparison is not None:
        yield " ".join([headline_numbers(comparison), *how_sure(comparison)])
        yield _numbers(comparison)
        yield from _changed(comparison)
    else:
        yield _own_numbers(report)
    yield from _failures(report, comparison)
    yield from _unmeasured(report)
    if conclusion.gates:
        yield _gates(conclusion)
    yield from _about_the_suite(comparison)
    yield from coverage.markdown(report)
    yield f"<sub>{_footer(conclusion)}</sub>"


def _numbers(comparison: Comparison) -> str:
    """The shared cases on both sides; their pass rate is the headline's where that is what was compared."""
    base, head = comparison.base_totals, comparison.head_totals
    rates = base.pass_rate, head.pass_rate
    if comparison.metric == "pass_rate" and comparison.drop is not None:
        rates = comparison.base_mean, comparison.head_mean
    rows = [
        ("pass rate", percent(rates[0]), percent(rates[1]), _points(*rates)),
        ("score (1–5)", score(base.composite), score(head.composite), _by(base.composite, head.composite)),
        ("cost", money(base.cost_usd), money(head.cost_usd), _relative(base.cost_usd, head.cost_usd)),
        (
            "latency p95",
            seconds(base.latency_p95_s),
            seconds(head.latency_p95_s),
            _relative(base.latency_p95_s, head.latency_p95_s),
        ),
    ]
    lines = ["| | base | now | change |", "|---|--:|--:|--:|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows if row[1:3] != ("–", "–")])


def _own_numbers(report: RunReport) -> str:
    totals = report.totals
    parts = [f"Pass rate {percent(totals.pass_rate)}", f"score {score(totals.composite)} of 5"]
    if totals.cost_usd is not None:
        parts.append(f"cost {money(totals.cost_usd)}")
    return ", ".join(parts) + "."


def _changed(comparison: Comparison) -> Iterator[str]:
    regressed = comparison.of_kind("regressed")
    if regressed:
        yield "**Regressed**\n\n" + _change_table(regressed)
        diffs = [text for change in regressed[:MOST_DIFFS] if (text := _answer_diff(change))]
        if diffs:
            yield (
                "<details><summary>What changed in the answers</summary>\n\n"
                + "\n\n".join(diffs)
                + "\n\n</details>"
            )
    fixed = comparison.of_kind("fixed")
    if fixed:
        names = ", ".join(code_cell(change.key, 80) for change in fixed[:MOST_ROWS])
        yield f"**Fixed** {names}"


def _change_table(changes: Sequence[Change]) -> str:
    lines = ["| case | runs passed | check that fails now | line |", "|---|:-:|---|--:|"]
    for change in changes[:MOST_ROWS]:
        if change.base is None or change.head is None:
            continue
        runs = f"{runs_passed(change.base)} → {runs_passed(change.head)}"
        label = "" if change.label in (None, "confirmed") else f" · {change.label}"
        line = "" if change.head.line is None else str(change.head.line)
        check = _failing_check(change.head)
        lines.append(f"| {code_cell(change.key, 80)} {_name(change.head)} | {runs}{label} | {check} | {line} |")
    if len(changes) > MOST_ROWS:
        lines.append(f"| … and {len(changes) - MOST_ROWS} more | | | |")
    return "\n".join(lines)


def _name(case: CaseReport) -> str:
    return "" if case.name == case.key else code_cell(case.name, 80)


def _failing_check(case: CaseReport) -> str:
    found = first_failure(case)
    if found is None:
        return ""
    return f"{code_cell(found[1].id, 60)} {code_cell(because(found[1]), 160)}"


def _answer_diff(change: Change) -> str:
    answers = answer_pair(change)
    if answers is None or answers[0] == answers[1]:
        return ""
    removed = "\n".join(f"- {line}" for line in answers[0][:2000].splitlines())
    added = "\n".join(f"+ {line}" for line in answers[1][:2000].splitlines())
    block = fenced(f"{removed}\n{added}", "diff")
    return f"{code_cell(change.key, 80)}\n{block}"


def _failures(report: RunReport, comparison: Comparison | None) -> Iterator[str]:
    """What fails without having regressed."""
    failing = still_failing(report, comparison)
    if not failing:
        return
    lines = ["| case | check that fails | line |", "|---|---|--:|"]
    for case in failing[:MOST_ROWS]:
        line = "" if case.line is None else str(case.line)
        lines.append(f"| {code_cell(case.key, 80)} {_name(case)} | {_failing_check(case)} | {line} |")
    title = f"{plural(len(failing), 'case')} failing" + ("" if comparison is None else ", not newly")
    more = f"\n\n… and {len(failing) - MOST_ROWS} more" if len(failing) > MOST_ROWS else ""
    yield f"<details><summary>{title}</summary>\n\n" + "\n".join(lines) + more + "\n\n</details>"


def _unmeasured(report: RunReport) -> Iterator[str]:
    errored = [case for case in report.cases if case.unmeasured]
    if errored:
        lines = ["| case | why it could not be measured |", "|---|---|"]
        lines += [
            f"| {code_cell(case.key, 80)} | {code_cell(first_error(case) or '', 200)} |"
            for case in errored[:MOST_ROWS]
        ]
        more = f"\n\n… and {len(errored) - MOST_ROWS} more" if len(errored) > MOST_ROWS else ""
        yield f"**Not measured** ({code_cell(error_kinds(report), 300)})\n\n" + "\n".join(lines) + more


def _gates(conclusion: Conclusion) -> str:
    shown = [f"{GATE_MARKS[g.state]} {inert_line(g.name)} ({inert_line(g.reason)})" for g in conclusion.gates]
    return f"**Gates** {' · '.join(shown)}"


def _about_the_suite(comparison: Comparison | None) -> Iterator[str]:
    if comparison is None:
        return
    counts = [
        f"{len(changes)} {kind}"
        for kind in ("added", "removed", "edited")
        if (changes := comparison.of_kind(kind))
    ]
    notes = [f"{', '.join(counts)} (not compared)"] if counts else []
    notes += [
        f"⚠ {code_cell(change.key, 80)} was edited, passed on the base and fails now"
        for change in edited_and_failing(comparison)[:MOST_ROWS]
    ]
    notes += [f"⚠ {code_cell(w.key, 80)} {code_cell(w.message, 160)}" for w in comparison.weakenings[:MOST_ROWS]]
    notes += [code_cell(metric, 300) for metric in other_metrics(comparison)]
    notes += [code_cell(caveat, 300) for caveat in comparison.caveats]
    if notes:
        yield "**Also changed** " + " · ".join(notes)
    if comparison.flaky:
        shown = [f"{code_cell(c.key, 80)} {100 * c.rate:.0f} %" for c in comparison.flaky[:MOST_FLAKY]]
        yield f"**Flaky** (how often two runs differ) {', '.join(shown)}"


def _footer(conclusion: Conclusion) -> str:
    report, comparison = conclusion.report, conclusion.comparison
    parts = [f"target {code_cell(report.run.target.model or report.run.target.type, 80)}"]
    if report.run.judge is not None:
        parts.append(f"judge {code_cell(report.run.judge.model or report.run.judge.type, 80)}")
    if report.totals.judge_cost_usd is not None:
        parts.append(f"judge's cost {money(report.totals.judge_cost_usd)}")
    parts += [code_cell(note, 160) for note in judge_notes(report)]
    if comparison is not None:
        parts.append(f"base: {code_cell(comparison.source, 160)}")
    if report.run.repeat > 1:
        parts.append(f"{report.run.repeat} runs a case")
    if report.run.sandbox == "reduced":
        parts.append("⚠ sandbox: reduced")
    parts += [code_cell(notice, 200) for notice in report.run.notices]
    parts.append(f"runevals {report.tool_version}")
    return " · ".join(parts)


def _points(base: float | None, head: float | None) -> str:
    return "–" if base is None or head is None else f"{signed(100 * (head - base), 1)} points"


def _by(base: float | None, head: float | None) -> str:
    return "–" if base is None or head is None else signed(head - base, 2)


def _relative(base: float | None, head: float | None) -> str:
    return "–" if not base or head is None else f"{signed(100 * (head - base) / base, 0)} %"
