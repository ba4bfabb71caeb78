"""The final screen: verdict, regressions, failures with the first difference, gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import and_more, capitalised, money, plural, seconds
from runevals.records import (
    AgainstComparison,
    CaseReport,
    Change,
    Comparison,
    Conclusion,
    GateState,
    RunReport,
)
from runevals.reports import blame, coverage
from runevals.reports.identity import endings, measured
from runevals.reports.steps import changed_steps
from runevals.verdict.wording import (
    about_against,
    about_mark,
    alone,
    answer_pair,
    because,
    by_error,
    case_notes,
    doubtful,
    edited_and_failing,
    error_kinds,
    failed_checks,
    failing_now,
    first_failure,
    fresh_runs,
    how_sure,
    in_short,
    is_ungated,
    judge_notes,
    lost_checks,
    other_metrics,
    other_paths,
    runs_passed,
    same_on_both_sides,
    still_failing,
    title_of_change,
    title_of_failing,
    weakened,
)

NAME = "console"
FILENAME = "summary.txt"
MARKS = {"passed": "✓", "failed": "✗", "unmeasured": "!", "skipped": "–"}
GATE_MARKS = {GateState.PASSED: "✓", GateState.FAILED: "✗", GateState.WARNED: "!", GateState.NOT_APPLICABLE: "–"}
MOST = 20
MOST_CHECKS = 5  # of a case
MOST_COMPARED = 100_000  # characters of an answer
WORDS_BEFORE = 40  # characters before the first difference


def render(conclusion: Conclusion) -> str:
    """Plain text; the first line is the verdict."""
    return "\n".join(_lines(conclusion)) + "\n"


def _lines(conclusion: Conclusion) -> Iterator[str]:
    report, comparison = conclusion.report, conclusion.comparison
    yield f"{verdict_mark(conclusion)} {conclusion.verdict.headline}"
    yield from (f"  ! {one_line(sentence)}" for sentence in endings(report.run))
    if comparison is None and report.totals.cases:
        yield f"  {alone(report)}"
    if comparison is not None:
        yield f"  {in_short(comparison)}"
        yield from _changed(comparison)
        if conclusion.blame is not None:
            yield from ("", *blame.plain(conclusion.blame))
        yield from _prompts(conclusion)
    if conclusion.mark is not None:
        yield f"  {'! ' if conclusion.mark.sure else ''}{one_line(about_mark(conclusion.mark), 500)}"
    yield from _against(conclusion.against)
    yield from _still_failing(report, comparison)
    yield from _errored(conclusion)
    yield from coverage.plain(report)
    if comparison is not None and conclusion.verdict.outcome != "unmeasured" and (sure := how_sure(comparison)):
        yield from ("", "How sure is this?", *(f"  {sentence}" for sentence in sure))
    yield ""
    if conclusion.gates:
        yield "Gates  " + "  ".join(f"{GATE_MARKS[gate.state]} {gate.name}" for gate in conclusion.gates)
    yield f"       {_footer(conclusion)}"


def _still_failing(report: RunReport, comparison: Comparison | None) -> Iterator[str]:
    """Cases that fail without having regressed."""
    for title, cases in still_failing(report, comparison).items():
        yield from ("", capitalised(title))
        for case in cases[:MOST]:
            yield from _case(case, runs_passed(case) if len(case.attempts) > 1 else "")
            yield from _expected(case)
        yield from _more(cases, MOST)


def _against(against: AgainstComparison | None) -> Iterator[str]:
    if against is not None:
        yield f"  {one_line(about_against(against), 500)}"
        if same := same_on_both_sides(against):
            yield f"  {one_line(same, 1000)}"


def verdict_mark(conclusion: Conclusion) -> str:
    """The sign before the headline; a run without gates gets no tick."""
    if doubtful(conclusion):
        return "⚠"
    ungated = is_ungated(conclusion.report, conclusion.comparison, conclusion.gates)
    passed = conclusion.verdict.outcome == "passed"
    return MARKS["skipped" if ungated and passed else conclusion.verdict.outcome]


def _changed(comparison: Comparison) -> Iterator[str]:
    yield from _lost("Regressed", comparison.lost_cases, comparison)
    yield from _lost(title_of_failing(comparison), failing_now(comparison), comparison)
    for note in (*lost_checks(comparison), *case_notes(comparison))[:MOST]:
        yield f"  ! {one_line(note)}"
    fixed = comparison.of_kind("fixed")
    if fixed:
        yield ""
        yield "Fixed  " + ", ".join(one_line(change.key, 60) for change in fixed[:MOST])
    counts = [
        f"{len(changes)} {kind}"
        for kind in ("added", "removed", "edited")
        if (changes := comparison.of_kind(kind))
    ]
    if counts:
        yield f"  Not compared: {', '.join(counts)}"
    for change in comparison.renamed[:MOST]:
        yield f"  Renamed: {one_line(change.former_key or '', 60)} → {one_line(change.key, 60)}"
    yield from _more(comparison.renamed, MOST)
    for key, sentence in edited_and_failing(comparison)[:MOST]:
        yield f"  ! {one_line(key, 60)}: {sentence}"
    weaker = weakened(comparison)
    for which, message in weaker[:MOST]:
        yield f"  ! {one_line(which, 200)}: {one_line(message)}"
    yield from _more(weaker, MOST)
    for metric in other_metrics(comparison):
        yield f"  ! {one_line(metric)}"
    if paths := other_paths(comparison):
        yield f"  {one_line(capitalised(paths), 300)}"
    if comparison.flaky:
        flaky = ", ".join(one_line(f"{c.key} {100 * c.rate:.0f} %", 70) for c in comparison.flaky[:MOST])
        yield f"  Flaky (how often two runs differ): {flaky}"
    for caveat in comparison.caveats:
        yield f"  ! {one_line(caveat)}"


def _prompts(conclusion: Conclusion) -> Iterator[str]:
    """The changes of the prompt, for a failed run."""
    if conclusion.verdict.outcome == "failed":
        for change in conclusion.prompt_changes:
            yield from ("", f"{title_of_change(change)}  {one_line(change.path, 120)}")
            lines = change.diff.splitlines()
            yield from (f"      {one_line(line, 160)}" for line in lines[:MOST])
            yield from _more(lines, MOST)


def _lost(title: str, changes: Sequence[Change], comparison: Comparison) -> Iterator[str]:
    """Cases that passed on the base and fail now, with what changed in their answers."""
    if changes:
        yield from ("", title)
    for change in changes[:MOST]:
        if change.head is not None and change.base is not None:
            again = fresh_runs(comparison, change)
            runs = f"{runs_passed(change.base)} → {runs_passed(change.head)}" + (f", {again}" if again else "")
            yield from _case(change.head, runs)
            if (paths := changed_steps(change)) is not None:
                yield f"      steps: {paths[1]}, on the base {paths[0]}"
            answers = answer_pair(change)
            if answers is not None:
                yield from _difference(*answers)
    yield from _more(changes, MOST)


def _case(case: CaseReport, runs: str) -> Iterator[str]:
    line = "" if case.line is None else f":{case.line}"
    name = "" if case.name == case.key else f"  {one_line(case.name, 70)}"
    yield f"  {one_line(case.key, 60)}{name}  {runs}".rstrip()
    failures = failed_checks(case)
    for number, result in enumerate(failures[:MOST_CHECKS]):
        place = f"   ({case.file}{line})" if number == 0 else ""
        yield f"      {one_line(result.id, 60)}: {one_line(because(result), 160)}{place}"
    if len(failures) > MOST_CHECKS:
        yield f"      … and {plural(len(failures) - MOST_CHECKS, 'more check')}"
    if case.notes is not None:
        yield f"      notes: {one_line(case.notes, 240)}"


def _expected(case: CaseReport) -> Iterator[str]:
    """The expected text and the answer, if the answer does not contain it."""
    failure = first_failure(case)
    if failure is not None:
        expected, answer = failure[0].expected, failure[0].output or ""
        if expected and expected not in answer:
            yield from _difference(expected, answer, "expected: ", "answered: ")


def _difference(before: str, after: str, word_before: str = "", word_after: str = "") -> Iterator[str]:
    if before != after:
        old, new = _from_the_difference(one_line(before, MOST_COMPARED), one_line(after, MOST_COMPARED))
        yield f"      − {word_before}{one_line(old, 160)}"
        yield f"      + {word_after}{one_line(new, 160)}"


def _from_the_difference(base: str, head: str) -> tuple[str, str]:
    """Both answers without their common beginning, except its last words."""
    pairs = enumerate(zip(base, head, strict=False))
    same = next((place for place, (a, b) in pairs if a != b), min(len(base), len(head)))
    if same <= 2 * WORDS_BEFORE:
        return base, head
    start = base.rfind(" ", 0, same - WORDS_BEFORE) + 1 or same - WORDS_BEFORE
    return f"…{base[start:]}", f"…{head[start:]}"


def _errored(conclusion: Conclusion) -> Iterator[str]:
    groups = by_error(conclusion.report)
    if groups:
        yield from ("", f"Not measured  {error_kinds(conclusion.report)}")
        for error, cases in groups[:MOST]:
            yield f"  {one_line(cases[0].key, 60)}  {one_line(error, 240)}"
            if len(cases) > 1:
                yield f"      … and {len(cases) - 1} more with the same error"
        yield from _more([case for _, cases in groups[MOST:] for case in cases], 0)


def _more(items: Sequence[object], most: int) -> Iterator[str]:
    yield from (f"  {line}" for line in and_more(items, most))


def _footer(conclusion: Conclusion) -> str:
    report = conclusion.report
    parts = [measured(report.run), plural(report.totals.cases, "case"), seconds(report.run.duration_s)]
    if report.totals.cost_usd is not None:
        parts.append(money(report.totals.cost_usd))
    if report.totals.judge_cost_usd is not None:
        parts.append(f"judge {money(report.totals.judge_cost_usd)}")
    if report.run.prices is not None and (report.totals.cost_usd or report.totals.judge_cost_usd):
        parts.append(f"prices as of {one_line(report.run.prices, 80)}")
    parts += [one_line(note, 120) for note in judge_notes(report)]
    if conclusion.comparison is not None:
        parts.append(f"base: {one_line(conclusion.comparison.source, 120)}")
    if report.run.sandbox == "reduced":
        parts.append("sandbox: reduced")
    parts += [one_line(notice) for notice in report.run.notices]
    return " · ".join(parts)
