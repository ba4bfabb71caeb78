"""The sections that the job summary and the comment on a pull request are made of, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from msgspec import Struct

from runevals.lib.text.escape import code_cell, fenced, inert_line
from runevals.lib.text.numbers import capitalised, money, percent, plural, points, relative, score, seconds, signed
from runevals.records import (
    AgainstComparison,
    CaseReport,
    Change,
    Comparison,
    Conclusion,
    GateResult,
    GateState,
    Links,
    MarkComparison,
    RunReport,
)
from runevals.reports import blame, coverage
from runevals.reports.answer_diff import answer_diff
from runevals.reports.identity import endings, suite_names, target_name
from runevals.reports.steps import changed_steps
from runevals.verdict.wording import (
    about_against,
    about_mark,
    alone,
    because,
    by_error,
    case_notes,
    doubtful,
    edited_and_failing,
    error_kinds,
    failed_checks,
    failing_now,
    fresh_runs,
    how_sure,
    in_short,
    judge_notes,
    lost_checks,
    new_and_failing,
    next_step,
    other_metrics,
    other_paths,
    runs_passed,
    same_on_both_sides,
    still_failing,
    title_of_change,
    title_of_failing,
    weakened,
)

MARKS = {"passed": "✅", "failed": "❌", "unmeasured": "⛔", "skipped": "⚪"}
DOUBT = "⚠️"
GATE_MARKS = {
    GateState.PASSED: "✅",
    GateState.FAILED: "❌",
    GateState.WARNED: "⚠",
    GateState.NOT_APPLICABLE: "⚪",
}
MOST_ROWS = 50
MOST_CHECKS = 5  # of a case
MOST_DIFFS = 10
MOST_RENAMED = 10
MOST_FLAKY = 10
MOST_GATES = 20
MOST_NOTICES = 5
LONGEST_HEADLINE = 500
LONGEST_PARAGRAPH = 1500
LONGEST_GATES = 10_000


class Section(Struct, frozen=True):
    """A piece of Markdown. If there is no room for all, those with the highest rank are removed first; 0 stays."""

    text: str
    name: str = ""  # names it for readers if it is left out
    rank: int = 0


def sections(conclusion: Conclusion, links: Links | None = None) -> Iterator[Section]:
    """Most important first: verdict, one sentence of numbers, changed cases. The rest is folded."""
    report, comparison, links = conclusion.report, conclusion.comparison, links or Links()
    yield Section("### {} {}".format(*headline(conclusion)))
    for sentence in endings(report.run):
        yield Section(f"⚠️ {inert_line(sentence)}.")
    if conclusion.verdict.outcome == "unmeasured" and (step := next_step(report)):
        yield Section(f"Nothing was judged as failed because of this. {inert_line(step)}")
    elif comparison is not None:
        yield Section(_bold_numbers(inert_line(in_short(comparison), LONGEST_PARAGRAPH)))
    else:
        yield from _alone(report)
    if conclusion.against is not None:
        yield from _against(conclusion.against)
    yield from _failed_gates(conclusion)
    if comparison is not None:
        yield from _changed(conclusion, comparison, links)
    yield from _unmeasured(report)
    yield from _failures(report, comparison, links)
    yield from _numbers_and_gates(conclusion, links)
    sure = [] if comparison is None or conclusion.verdict.outcome == "unmeasured" else how_sure(comparison)
    if sure:
        text = "\n".join(f"* {inert_line(sentence, LONGEST_PARAGRAPH)}" for sentence in sure)
        yield Section(folded("How sure is this?", text), "how sure this is", 4)
    yield from _about_the_suite(comparison)
    if conclusion.mark is not None:
        yield _mark(conclusion.mark)
    for part in coverage.markdown(report):
        yield Section(part, "what the cases cover", 9)
    yield Section(f"<sub>{_footer(conclusion, links)}</sub>")


def _bold_numbers(sentence: str) -> str:
    """The same, with base → head in bold."""
    return re.sub(r"[\d.]+ % → [\d.]+ %", r"**\g<0>**", sentence, count=1)


def _failed_gates(conclusion: Conclusion) -> Iterator[Section]:
    """The failed and warning gates, except the one in the headline."""
    others = [
        gate
        for gate in conclusion.gates
        if gate.state in (GateState.FAILED, GateState.WARNED) and gate.name not in ("no_regression", "measured")
    ]
    if others and not (len(others) == 1 and others[0].name in conclusion.verdict.headline):
        yield Section("\n".join(f"* {_gate(gate)}" for gate in others[:MOST_GATES]), "gates that failed", 1)


def _numbers_and_gates(conclusion: Conclusion, links: Links) -> Iterator[Section]:
    parts = []
    comparison = conclusion.comparison
    if comparison is not None and comparison.drop is not None and conclusion.verdict.outcome != "unmeasured":
        parts.append(_numbers(comparison, links))
    if conclusion.gates:
        parts.append(_gates(conclusion.gates))
    if parts:
        title = "Numbers and gates" if len(parts) == 2 else "Gates" if conclusion.gates else "Numbers"
        yield Section(folded(title, "\n\n".join(parts)), "the numbers of both sides and the gates", 4)


def headline(conclusion: Conclusion) -> tuple[str, str]:
    """The icon of the verdict, and the verdict in words."""
    no_base = conclusion.comparison is None and conclusion.verdict.outcome == "passed"
    mark = DOUBT if doubtful(conclusion) else "⚪" if no_base else MARKS[conclusion.verdict.outcome]
    return mark, inert_line(conclusion.verdict.headline, LONGEST_HEADLINE)


def _alone(report: RunReport) -> Iterator[Section]:
    """A run without a base; its notices say why."""
    if report.totals.cases:
        cost = "" if report.totals.cost_usd is None else f" Cost {money(report.totals.cost_usd)}."
        yield Section(alone(report) + cost)
    for notice in report.run.notices[:MOST_NOTICES]:
        yield Section(f"{inert_line(capitalised(notice), LONGEST_HEADLINE)}.", "a notice", 3)


def _numbers(comparison: Comparison, links: Links) -> str:
    """The shared cases on both sides; the compared pass rate is the one of the headline."""
    base, head = comparison.base_totals, comparison.head_totals
    rates = base.pass_rate, head.pass_rate
    if comparison.metric == "pass_rate" and comparison.drop is not None:
        rates = comparison.base_mean, comparison.head_mean
    rows = [
        ("pass rate", percent(rates[0]), percent(rates[1]), _points(*rates)),
        ("score (1–5)", score(base.composite), score(head.composite), _by(base.composite, head.composite)),
        ("cost", money(base.cost_usd), money(head.cost_usd), relative(base.cost_usd, head.cost_usd)),
        (
            "latency p95",
            seconds(base.latency_p95_s),
            seconds(head.latency_p95_s),
            relative(base.latency_p95_s, head.latency_p95_s),
        ),
        ("tokens", *_tokens(comparison)),
    ]
    commit = comparison.base.run.commit
    of_base = "base" if links.head is None or commit is None else f"base {code_cell(commit[:7])}"
    of_head = "now" if links.head is None else f"this change {code_cell(links.head[:7])}"
    lines = [f"| | {of_base} | {of_head} | change |", "|---|--:|--:|--:|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows if row[1:3] != ("–", "–")])


def _tokens(comparison: Comparison) -> tuple[str, str, str]:
    counts = []
    for side in (comparison.base_totals, comparison.head_totals):
        known = side.input_tokens is not None and side.output_tokens is not None
        counts.append((side.input_tokens or 0) + (side.output_tokens or 0) if known else None)
    base, head = ("–" if count is None else f"{count:,}".replace(",", " ") for count in counts)
    return base, head, relative(counts[0], counts[1])


def _changed(conclusion: Conclusion, comparison: Comparison, links: Links) -> Iterator[Section]:
    lost, unsure = comparison.lost_cases, failing_now(comparison)
    if lost:
        table = _change_table(lost, comparison, links)
        yield Section(f"**Regressed**\n\n{table}", "the table of regressed cases", 2)
    if unsure:
        table = _change_table(unsure, comparison, links)
        yield Section(f"**{title_of_failing(comparison)}**\n\n{table}", "the table of cases that fail now", 2)
    notes = [
        f"* {inert_line(text, 300)}" for text in (*lost_checks(comparison), *case_notes(comparison))[:MOST_ROWS]
    ]
    if notes:
        yield Section("\n".join(notes), "the fresh runs of single cases", 3)
    if conclusion.blame is not None and (text := blame.markdown(conclusion.blame)):
        yield Section(text, "which lines lost it", 3)
    if lost or unsure or conclusion.verdict.outcome == "failed":
        for change in conclusion.prompt_changes:
            text = f"**{title_of_change(change)}** {code_cell(change.path, 120)}\n{fenced(change.diff, 'diff')}"
            yield Section(text, "what changed in the prompt", 3)
    if lost or unsure:
        diffs = [text for change in (*lost, *unsure)[:MOST_DIFFS] if (text := answer_diff(change))]
        if diffs:
            yield Section(folded("What changed in the answers", "\n\n".join(diffs)), "changed answers", 6)
    fixed = comparison.of_kind("fixed")
    if fixed:
        names = ", ".join(code_cell(change.key, 80) for change in fixed[:MOST_ROWS])
        yield Section(f"**Fixed** {names}{_more(fixed)}", "fixed cases", 7)


def _change_table(changes: Sequence[Change], comparison: Comparison, links: Links) -> str:
    lines = ["| case | runs passed | checks that fail now | line |", "|---|:-:|---|--:|"]
    for change in changes[:MOST_ROWS]:
        if change.base is None or change.head is None:
            continue
        runs = f"{runs_passed(change.base)} → {runs_passed(change.head)}"
        again = fresh_runs(comparison, change)
        label = f" · {again}" if again else ""
        check, line = f"{_failing_checks(change.head)}{_steps(change)}", line_link(change.head, links)
        lines.append(f"| {_case(change.head)} | {runs}{label} | {check} | {line} |")
    if len(changes) > MOST_ROWS:
        lines.append(f"| … and {len(changes) - MOST_ROWS} more | | | |")
    return "\n".join(lines)


def _steps(change: Change) -> str:
    """An agent's other steps, after its checks."""
    paths = changed_steps(change)
    return "" if paths is None else f"<br>steps: {code_cell(paths[1])}, on the base {code_cell(paths[0])}"


def _case(case: CaseReport) -> str:
    name = "" if case.name == case.key else code_cell(case.name, 80)
    notes = "" if case.notes is None else f"<br>notes: {code_cell(case.notes, 200)}"
    return f"{code_cell(case.key, 80)} {name}{notes}"


def line_link(case: CaseReport, links: Links) -> str:
    """The line of the suite, with a link if its file can only be inside the repository."""
    if case.line is None:
        return ""
    parts = case.file.split("/")
    if links.files is None or "\\" in case.file or any(part in ("", ".", "..") for part in parts):
        return str(case.line)
    path = quote(case.file.encode("utf-8", "backslashreplace"), safe="/")
    return f"[{case.line}]({links.files}{path}#L{case.line})"


def _failing_checks(case: CaseReport) -> str:
    failures = failed_checks(case)
    cells = [f"{code_cell(result.id, 60)} {code_cell(because(result), 160)}" for result in failures[:MOST_CHECKS]]
    return "<br>".join(cells) + _more(failures, MOST_CHECKS)


def _failures(report: RunReport, comparison: Comparison | None, links: Links) -> Iterator[Section]:
    """Cases that fail without having regressed."""
    for title, failing in still_failing(report, comparison).items():
        lines = ["| case | checks that fail | line |", "|---|---|--:|"]
        lines += [
            f"| {_case(case)} | {_failing_checks(case)} | {line_link(case, links)} |"
            for case in failing[:MOST_ROWS]
        ]
        more = f"\n\n{_more(failing).strip()}" if len(failing) > MOST_ROWS else ""
        text = folded(f"{plural(len(failing), 'case')} {title}", "\n".join(lines) + more)
        yield Section(text, "cases that fail without having regressed", 8)


def _unmeasured(report: RunReport) -> Iterator[Section]:
    groups = by_error(report)
    if groups:
        lines = ["| case | why it could not be measured |", "|---|---|"]
        lines += [f"| {_first_of(cases)} | {code_cell(error, 200)} |" for error, cases in groups[:MOST_ROWS]]
        more = f"\n\n{_more(groups).strip()} kinds of errors" if len(groups) > MOST_ROWS else ""
        title = f"**Not measured** ({code_cell(error_kinds(report), 300)})"
        yield Section(f"{title}\n\n" + "\n".join(lines) + more, "cases that could not be measured", 5)


def _first_of(cases: Sequence[CaseReport]) -> str:
    """The first three of cases with one error."""
    return ", ".join(code_cell(case.key, 80) for case in cases[:3]) + _more(cases, 3)


def _gates(gates: Sequence[GateResult]) -> str:
    failed_first = sorted(gates, key=lambda gate: gate.state is not GateState.FAILED)
    chosen = set(map(id, failed_first[:MOST_GATES]))
    lines = [f"* {_gate(gate)}" for gate in gates if id(gate) in chosen]
    while sum(map(len, lines)) > LONGEST_GATES:  # names full of signs that are escaped
        lines.pop()
    more = _more(gates, len(lines)).strip()
    return "\n".join([*lines, f"* {more}"] if more else lines)


def _gate(gate: GateResult) -> str:
    return f"{GATE_MARKS[gate.state]} {inert_line(gate.name, 80)}: {inert_line(gate.reason, 200)}"


def _mark(mark: MarkComparison) -> Section:
    warning = "⚠️ " if mark.sure else ""
    title = f"{warning}The long run: {points(-mark.drop)}"
    text = folded(title, inert_line(about_mark(mark), LONGEST_PARAGRAPH))
    return Section(text, "what changed since the mark", 5)


def _against(against: AgainstComparison) -> Iterator[Section]:
    """What the skill is worth, say."""
    yield Section(_bold_numbers(inert_line(about_against(against), LONGEST_PARAGRAPH)))
    if same := same_on_both_sides(against):
        yield Section(inert_line(same, LONGEST_PARAGRAPH), "checks that tell both sides not apart", 6)


def _about_the_suite(comparison: Comparison | None) -> Iterator[Section]:
    if comparison is None:
        return
    counts = [
        f"{len(changes)} {kind}"
        for kind in ("added", "removed", "edited")
        if (changes := comparison.of_kind(kind))
    ]
    notes = [f"{', '.join(counts)} (not compared)"] if counts else []
    if renamed := comparison.renamed:
        keys = [
            f"{code_cell(change.former_key or '', 80)} → {code_cell(change.key, 80)}"
            for change in renamed[:MOST_RENAMED]
        ]
        notes.append(f"{len(renamed)} renamed: {', '.join(keys)}{_more(renamed, MOST_RENAMED)}")
    notes += [
        f"{code_cell(change.key, 80)} is new and fails" for change in new_and_failing(comparison)[:MOST_ROWS]
    ]
    notes += [f"⚠ {code_cell(key, 80)} {sentence}" for key, sentence in edited_and_failing(comparison)[:MOST_ROWS]]
    weaker = weakened(comparison)
    notes += [f"⚠ {code_cell(which, 200)} {code_cell(message, 160)}" for which, message in weaker[:MOST_ROWS]]
    unseen = len(weaker) - MOST_ROWS
    notes += [f"⚠ {unseen} more such weakenings"] if unseen > 0 else []
    notes += [code_cell(metric, 300) for metric in other_metrics(comparison)]
    notes += [code_cell(paths, 300)] if (paths := other_paths(comparison)) else []
    notes += [code_cell(caveat, 300) for caveat in comparison.caveats[:MOST_ROWS]]
    if notes:
        yield Section("**Also changed** " + " · ".join(notes), "what else changed", 5)
    if comparison.flaky:
        flaky = [f"{code_cell(c.key, 80)} {100 * c.rate:.0f} %" for c in comparison.flaky[:MOST_FLAKY]]
        yield Section(f"**Flaky** (how often two runs differ) {', '.join(flaky)}", "flaky cases", 9)


def _footer(conclusion: Conclusion, links: Links) -> str:
    report, comparison = conclusion.report, conclusion.comparison
    suites = suite_names(report.run.suites)
    parts = [f"suite {code_cell(suites, 120)}"] if suites else []
    parts.append(f"target {code_cell(target_name(report.run.target), 120)}")
    if report.run.judge is not None:
        parts.append(f"judge {code_cell(report.run.judge.model or report.run.judge.type, 80)}")
    if report.totals.judge_cost_usd is not None:
        parts.append(f"judge's cost {money(report.totals.judge_cost_usd)}")
    if report.run.prices is not None and (report.totals.cost_usd or report.totals.judge_cost_usd):
        parts.append(f"prices as of {inert_line(report.run.prices, 80)}")
    parts += [code_cell(note, 160) for note in judge_notes(report)[:MOST_NOTICES]]
    if comparison is not None:
        parts.append(f"base: {code_cell(comparison.source, 160)}")
    if report.run.repeat > 1:
        parts.append(f"{report.run.repeat} runs a case")
    if report.run.sandbox == "reduced":
        parts.append("⚠ sandbox: reduced")
    if comparison is not None:
        parts += [code_cell(notice, 200) for notice in report.run.notices[:MOST_NOTICES]]
    if links.run is not None:
        parts.append(f"[run]({links.run})")
        parts.append(f"[report]({links.run}#artifacts)")
    parts.append(f"runevals {inert_line(report.tool_version, 40)}")
    return " · ".join(parts)


def folded(title: str, body: str) -> str:
    """A folded section. `title` must be trusted."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _more(items: Sequence[object], most: int = MOST_ROWS) -> str:
    return f" … and {len(items) - most} more" if len(items) > most else ""


def _points(base: float | None, head: float | None) -> str:
    return points(None if base is None or head is None else head - base)


def _by(base: float | None, head: float | None) -> str:
    return "–" if base is None or head is None else signed(head - base, 2)
