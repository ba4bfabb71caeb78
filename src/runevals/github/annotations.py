"""Annotations of the files of a change, as workflow commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from runevals.lib.text.escape import log_text, one_line
from runevals.records import CaseReport, Change, Conclusion, FileProblem, Outcome
from runevals.suites.problem_formats import ValidationResult
from runevals.verdict.wording import failed_checks, runs_passed

MOST = 9  # the runner shows ten errors of a step; the tenth says how many there are
LONGEST = 1000


class Mark(Struct, frozen=True, kw_only=True):
    """An annotation at a line of a file."""

    file: str
    line: int | None
    title: str
    message: str
    column: int | None = None
    level: Literal["error", "warning", "notice"] = "error"


def annotation_commands(marks: Sequence[Mark]) -> list[str]:
    """The commands for these marks, the first nine of them and one for the rest."""
    lines = [annotation_command(mark) for mark in marks[:MOST]]
    if len(marks) > MOST:
        lines.append(f"::error title=runevals::{len(marks) - MOST} more in the summary of the run")
    return lines


def warning_command(text: str, level: Literal["error", "warning"] = "warning") -> str:
    """The command that shows this text on the job's page."""
    return f"::{level} title=runevals::{_data(one_line(text, LONGEST))}"


def group_command(title: str) -> str:
    """The command that begins a folded group of the log."""
    return f"::group::{_data(one_line(title, LONGEST))}"


def annotation_command(mark: Mark) -> str:
    """The command for one annotation, escaped so that its text cannot end it or begin another."""
    where = {"file": mark.file, "line": mark.line, "col": mark.column, "title": mark.title}
    texts = {name: _data(one_line(str(value))) for name, value in where.items() if value}
    properties = ",".join(f"{name}={text.replace(':', '%3A').replace(',', '%2C')}" for name, text in texts.items())
    return f"::{mark.level} {properties}::{_data(one_line(mark.message, LONGEST))}"


def _data(text: str) -> str:
    """The text without commands of the older form, which the runner detects anywhere in a line."""
    safe = log_text(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return safe.encode("utf-8", "backslashreplace").decode()


def as_annotations(result: ValidationResult) -> Iterator[str]:
    """One workflow command per problem."""
    yield from map(annotation_command, map(problem_mark, result.problems))


def problem_mark(problem: FileProblem) -> Mark:
    """A problem of a suite or settings file, at its place."""
    return Mark(
        file=problem.location.file,
        line=problem.location.line,
        column=problem.location.column,
        title=problem.rule,
        message=f"{problem.pointer} {problem.message}".strip(),
        level=problem.level,
    )


def marks(conclusion: Conclusion) -> list[Mark]:
    """Marks the regressed cases of a failing run, the worst first; if none regressed, the failing ones."""
    if conclusion.verdict.outcome != "failed":
        return []
    comparison = conclusion.comparison
    lost = () if comparison is None else comparison.lost_cases or comparison.of_kind("regressed")
    if lost:
        both = [(change, change.head) for change in sorted(lost, key=_how_bad, reverse=True)]
        return [_regressed(change, head) for change, head in both if head is not None]
    return [_mark(case, "fails", "") for case in conclusion.report.cases if case.status is Outcome.FAILED]


def _how_bad(change: Change) -> tuple[bool, float, float]:
    """Critical ones, then those that lost most runs, then those that lost most score."""
    if change.base is None or change.head is None:
        return False, 0.0, 0.0
    sides = ((side.pass_rate or 0.0, side.share or 0.0) for side in (change.base, change.head))
    (runs, score), (runs_now, score_now) = sides
    return change.head.critical, runs - runs_now, score - score_now


def _regressed(change: Change, head: CaseReport) -> Mark:
    runs = "" if change.base is None else f"{runs_passed(change.base)} → {runs_passed(head)} runs passed; "
    return _mark(head, "regressed" if change.label == "confirmed" else "fails now", runs)


def _mark(case: CaseReport, what: str, runs: str) -> Mark:
    why = "".join(failed_checks(case)[:1])
    return Mark(file=case.file, line=case.line, title=f"{case.key} {what}", message=f"{runs}{why}" or what)
