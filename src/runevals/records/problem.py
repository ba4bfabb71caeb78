"""Problems and their locations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

_CODES = """
target_failed target_timeout target_auth target_rate_limited target_unparseable
target_no_json turn_skipped empty_response answer_cut
judge_failed judge_timeout judge_auth judge_rate_limited judge_unparseable
user_failed user_timeout user_auth user_rate_limited user_unparseable
evaluator_syntax evaluator_timeout evaluator_memory evaluator_bad_result evaluator_missing_module
evaluator_crashed evaluator_forbidden
workspace_failed workspace_broken evidence_missing fetch_failed file_missing
budget_exhausted limit_unknown interrupted refused
"""
ERROR_CODES = frozenset(_CODES.split())
STOPPED_CODES = frozenset({"budget_exhausted", "limit_unknown", "interrupted", "refused"})  # the run was stopped
NO_JSON = "target_no_json"  # a result that is not JSON: some checks can decide without it
WORKSPACE_BROKEN = "workspace_broken"  # by the attempt itself, so that it failed
NEVER_SENT_CODES = STOPPED_CODES | {"turn_skipped"}  # of calls that were never sent
MOST_ALIKE, FIRST_ALIKE = 10, 3  # problems of one kind in a file: listed one by one; located in their one line
_MARKS = {"error": "", "warning": "warning: ", "notice": "notice: "}
_NAME = re.compile(r"'[^']*'")
_VALUES = re.compile(r"'[^']*'|\d+")  # in messages of one kind, only these differ


class Problem(Struct, frozen=True, kw_only=True, gc=False):
    """Why one answer or one check could not be measured; `code` is one of ERROR_CODES."""

    code: str
    message: str


class Location:
    """A location in a file; line and column count from 1, None if the format has none."""

    __slots__ = ("column", "file", "line", "pointer")

    def __init__(
        self, *, file: str, line: int | None = None, column: int | None = None, pointer: str = ""
    ) -> None:
        """`pointer` is of the value there, if the file is a document; it does not count for equality."""
        self.file, self.line, self.column, self.pointer = file, line, column, pointer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Location) and self._words == other._words

    def __hash__(self) -> int:
        return hash(self._words)

    @property
    def _words(self) -> tuple[object, ...]:
        return self.file, self.line, self.column

    def __str__(self) -> str:
        return ":".join(str(part) for part in self._words if part is not None)

    def __repr__(self) -> str:
        return f"Location(file={self.file!r}, line={self.line}, column={self.column})"


# What can be wrong with a file, by the name that tools know it by.
RULES = {
    "unreadable": "The file cannot be read: it is absent, too large, or no JSON, YAML or table.",
    "unknown-format": "The file is in no suite format.",
    "unknown-key": "A key that the format does not have.",
    "no-checks": "Nothing looks at the answer of a case.",
    "schema": "A value is missing, or is not what the format allows there.",
    "duplicate-case": "Two cases of a suite share a key.",
    "unknown-evaluator": "A name that no evaluator has.",
    "evaluator-options": "An evaluator has options that it cannot work with.",
    "evaluator-unusable": "An evaluator's code, pattern or schema does not run.",
    "no-expected": "A check compares with an expected text, and the case has none.",
    "meaning": "The content of the file is not consistent.",
}


class FileProblem(Struct, frozen=True, kw_only=True, gc=False):
    """One problem of a suite or settings file; a warning or a notice does not stop the run."""

    location: Location
    pointer: str
    message: str
    level: Literal["error", "warning", "notice"] = "error"
    rule: str = "meaning"  # one of RULES

    def __str__(self) -> str:
        pointer = f" {self.pointer}" if self.pointer else ""
        return f"{self.location}:{pointer} {_MARKS[self.level]}{self.message}"


def errors_first(problems: Sequence[FileProblem]) -> list[FileProblem]:
    """Else in the order that they have."""
    return sorted(problems, key=lambda problem: problem.level != "error")


def problem_lines(problems: Sequence[FileProblem]) -> list[str]:
    """A line for each problem, errors first; more than MOST_ALIKE of one kind in a file are one line."""
    groups: dict[tuple[str, ...], list[FileProblem]] = {}
    problems = errors_first(problems)
    for problem in problems:
        groups.setdefault(_kind(problem), []).append(problem)
    lines = []
    for problem in problems:
        group = groups[_kind(problem)]
        if len(group) <= MOST_ALIKE:
            lines.append(str(problem))
        elif problem is group[0]:
            lines.append(_group_line(group))
    return lines


def _kind(problem: FileProblem) -> tuple[str, ...]:
    return problem.location.file, problem.level, problem.rule, _VALUES.sub("", problem.message)


def _group_line(group: Sequence[FileProblem]) -> str:
    first = group[:FIRST_ALIKE]
    lines = [str(problem.location.line) for problem in first if problem.location.line is not None]
    at = (
        f"lines {', '.join(lines)}"
        if len(lines) == len(first)
        else ", ".join(problem.pointer for problem in first)
    )
    names = list(dict.fromkeys(name for problem in group for name in _NAME.findall(problem.message)[:1]))
    others = f" also {', '.join(names[1:])};" if 1 < len(names) <= MOST_ALIKE else ""  # keys; values are more
    return f"{first[0]} ({len(group):,} problems of this kind in this file;{others} the first are at {at})"
