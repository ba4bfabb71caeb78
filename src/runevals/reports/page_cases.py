"""The cases of the page: a row of the table each, and the details that are read when a case is opened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import if_known, without
from runevals.lib.text.escape import both_ends, one_line, visible
from runevals.lib.text.numbers import UNKNOWN, count, money, plural, score, seconds
from runevals.records import (
    AttemptReport,
    CaseReport,
    Change,
    CheckResult,
    Conclusion,
    FileChange,
    Outcome,
    Problem,
    ToolCall,
    TurnReport,
    WorkspaceChanges,
)
from runevals.reports.next_steps import RUN_SETTINGS, again
from runevals.verdict.matching import Key
from runevals.verdict.side_by_side import spread
from runevals.verdict.wording import failed_checks, first_error, runs_passed

Json = dict[str, Any]

# Beyond this, a page is slow to download and to open: then the least important cases have no texts.
MOST_CHARACTERS = 20_000_000
LARGE_SHARE = 0.1  # of it, from which a single case is left out so that the others have room
_SPEAKERS = {"user": "Simulated user", "assistant": "Target"}
_RANKS = (
    "regressed", "edited and failing", "differs", "failed", "errored", "unmeasured", "quarantined", "worse",
    "runs differ", "flaky", "fixed", "better",
)  # fmt: skip
_LOSSES = ("regressed", "fails now")
_WORST_FIRST = (Outcome.FAILED, Outcome.ERRORED, Outcome.PASSED, Outcome.SKIPPED)


class PageCase(Struct, frozen=True, kw_only=True):
    """One case as each side ran it, and what of it the table shows."""

    sides: tuple[CaseReport | None, ...]  # the base's and the head's, or that of each target; None: it has no such
    case: CaseReport  # whose name and labels are shown
    status: str  # "removed" if only the base has the case
    change: str | None = None
    marks: Sequence[str] = ()  # other words for it
    settings: Mapping[str, object] | None = None  # of a run that can be repeated

    @property
    def rank(self) -> int:
        """The order of importance, from 0."""
        change = self.change
        was_passed = self.sides[0] is not None and self.sides[0].status is Outcome.PASSED
        if change == "edited" and self.status == Outcome.FAILED.value and was_passed:
            change = "edited and failing"
        marks = {"flaky", "unmeasured"}.intersection(self.marks)
        words = ("regressed" if change == "fails now" else change, self.status, *marks)
        return min([_RANKS.index(word) for word in words if word in _RANKS], default=len(_RANKS) + (not change))


def cases_of(conclusion: Conclusion) -> list[PageCase]:
    """Every case of the head in suite order, each with its base if that is known, then the removed ones."""
    comparison, run = conclusion.comparison, conclusion.report.run
    changes: dict[Key, Change] = {}
    bases: dict[Key, CaseReport] = {}
    if comparison is not None:
        changes = {(change.suite, change.key): change for change in comparison.changes}
        bases = {(case.suite, case.key): case for case in comparison.base.cases}
    settings = None if run.made_by else run.settings
    pairs: list[tuple[CaseReport | None, CaseReport | None, Change | None]] = []
    for case in conclusion.report.cases:
        change = changes.pop((case.suite, case.key), None)
        pairs.append((bases.get((case.suite, case.key)) if change is None else change.base, case, change))
    pairs += [(change.base, change.head, change) for change in changes.values()]
    return [_of_pair(*pair, settings) for pair in pairs if pair[0] or pair[1]]


def _of_pair(
    base: CaseReport | None, head: CaseReport | None, change: Change | None, settings: Mapping[str, object] | None
) -> PageCase:
    case = head or base
    assert case is not None  # noqa: S101 - a pair has a side
    label = None if change is None or change.label in (change.change, "new", "suspect") else change.label
    return PageCase(
        sides=(base, head),
        case=case,
        status="removed" if head is None else head.status.value,
        change=_word(change),
        marks=[*filter(None, [label]), *_marks(case)],
        settings=settings,
    )


def cases_beside(conclusions: Sequence[Conclusion]) -> list[PageCase]:
    """Every case of several targets, with a side for each."""
    by_key = [{(case.suite, case.key): case for case in one.report.cases} for one in conclusions]
    words = [_words_of(one) for one in conclusions]
    return [
        _of_targets(tuple(cases.get(key) for cases in by_key), [of_one.get(key) for of_one in words], conclusions)
        for key in dict.fromkeys(key for cases in by_key for key in cases)
    ]


def _words_of(conclusion: Conclusion) -> Mapping[Key, str | None]:
    changes = () if conclusion.comparison is None else conclusion.comparison.changes
    return {(change.suite, change.key): _word(change) for change in changes}


def _of_targets(
    sides: tuple[CaseReport | None, ...], words: Sequence[str | None], conclusions: Sequence[Conclusion]
) -> PageCase:
    present = [case for case in sides if case is not None]
    case = min(present, key=lambda case: _WORST_FIRST.index(case.status))
    run = conclusions[sides.index(case)].report.run
    differ = len({case.status for case in present}) > 1
    marks = [*(word for word in words if word in _LOSSES), *(mark for one in present for mark in _marks(one))]
    return PageCase(
        sides=sides,
        case=case,
        status=case.status.value,
        change="differs" if differ else "runs differ" if spread(sides) else None,
        marks=list(dict.fromkeys(marks)),
        settings=None if run.made_by else run.settings,
    )


def _word(change: Change | None) -> str | None:
    """What became of a case; one that is not confirmed as lost is not called regressed."""
    if change is None:
        return None
    return "fails now" if change.change == "regressed" and change.label != "confirmed" else change.change


def _marks(case: CaseReport) -> list[str]:
    marks = {
        "unmeasured": case.unmeasured and case.status is not Outcome.ERRORED,
        "flaky": case.flaky,
        "critical": case.critical,
        "quarantined": case.quarantined,
    }
    return [mark for mark, holds in marks.items() if holds]


def row(of_page: PageCase) -> Json:
    """Its row of the table."""
    case = of_page.case
    turns = (turn for attempt in case.attempts for turn in attempt.turns)
    scores = [if_known(lambda one: if_known(score, one.composite), side) for side in of_page.sides]
    return _without_empty(
        {
            "suite": visible(case.suite),
            "key": one_line(case.key, 500),
            "name": "" if case.name == case.key else one_line(case.name, 500),
            "category": if_known(one_line, case.category),
            "tags": [one_line(tag) for tag in case.tags],
            "place": one_line(case.file if case.line is None else f"{case.file}:{case.line}", 500),
            "status": of_page.status,
            "statuses": [if_known(lambda one: one.status.value, side) for side in of_page.sides],
            "change": of_page.change,
            "runs": [if_known(runs_passed, side) for side in of_page.sides],
            "scores": scores if any(scores) else None,
            "slowest": [if_known(_slowest, side) for side in of_page.sides],
            "why": _why(case),
            "notes": if_known(lambda notes: one_line(notes, 2000), case.notes),
            "checks": list(dict.fromkeys(one_line(one.id) for turn in turns for one in turn.results)),
            "marks": list(of_page.marks),
            "rank": of_page.rank,
        }
    )


def _slowest(case: CaseReport) -> float | None:
    known = [t.latency_s for attempt in case.attempts for t in attempt.turns if t.latency_s is not None]
    return max(known, default=None)


def _why(case: CaseReport) -> str:
    if checks := failed_checks(case):
        return both_ends(checks[0])
    return both_ends(first_error(case) or "") if case.unmeasured else ""


def bodies(cases: Sequence[PageCase], most: int = MOST_CHARACTERS) -> str:
    """A JSON array with one case a line, so that the page need read only the cases that are opened.

    If that is too large, only the most important cases are included; the others are null.
    """
    lines, left = ["null"] * len(cases), most
    for index in sorted(range(len(cases)), key=lambda index: cases[index].rank):
        line = json.dumps(_Body(cases[index]).document, separators=(",", ":"))
        if len(line) <= left:
            left -= len(line)
            lines[index] = line
        elif len(line) < LARGE_SHARE * most:
            break
    return "[\n" + ",\n".join(lines) + "\n]"


class _Body:
    """One case, each of its texts written once: most occur in every attempt and on every side."""

    def __init__(self, of_page: PageCase) -> None:
        self._texts: dict[str, int] = {}
        self.document: Json = {
            "again": if_known(lambda settings: again(of_page.case, settings), of_page.settings),
            "sides": [
                [] if side is None else [self._attempt(attempt) for attempt in side.attempts]
                for side in of_page.sides
            ],
        }
        self.document["texts"] = list(self._texts)

    def _text(self, text: str | None) -> int | None:
        return if_known(lambda known: self._texts.setdefault(visible(known), len(self._texts)), text)

    def _attempt(self, attempt: AttemptReport) -> Json:
        layers = attempt.layers
        scores = (("fact", layers.fact), ("behavior", layers.behavior), ("judge", layers.judge))
        present = [f"{name} {score(value)}" for name, value in scores if value is not None]
        return {
            "status": attempt.status.value,
            "score": "" if attempt.composite is None else f"score {score(attempt.composite)} of 5",
            "layers": ", ".join(present) if len(present) > 1 else "",
            "turns": [self._turn(turn) for turn in attempt.turns],
        }

    def _turn(self, turn: TurnReport) -> Json:
        return _without_empty(
            {
                "prompt": self._text(turn.prompt),
                "expected": self._text(turn.expected),
                "context": self._text(turn.context),
                "output": self._text(turn.output),
                "conversation": [
                    [_SPEAKERS.get(one.role, one.role), self._text(one.content)]
                    for one in (turn.conversation.messages if turn.conversation else ())
                ],
                "raised": self._text(turn.raised),
                "error": self._text(if_known(_in_words, turn.error)),
                "facts": _facts(turn),
                "citations": [
                    self._text(f"{cited.text} ({cited.source})" if cited.source else cited.text)
                    for cited in turn.citations or ()
                ],
                "calls": [self._call(call) for call in turn.tool_calls or ()],
                "no_calls": turn.tool_calls == () or None,  # without calls and without this they are unknown
                "refused": [one_line(tool) for tool in turn.refused],
                "files": if_known(self._files, turn.workspace),
                "checks": [self._check(result) for result in turn.results],
            }
        )

    def _call(self, call: ToolCall) -> Json:
        return _without_empty(
            {
                "name": one_line(call.name),
                "input": self._text(_pretty(call.input)),
                "output": self._text(call.output),
                "ok": call.ok,
                "mock": if_known(one_line, call.mock),
                "took": if_known(seconds, call.duration_s),
            }
        )

    def _files(self, workspace: WorkspaceChanges) -> Json:
        """What changed in the workspace: [path, change, lines added, lines removed, content]."""
        return _without_empty(
            {
                "changes": [
                    [one_line(one.path, 500), one.change, one.lines_added, one.lines_removed, _content(one)]
                    for one in workspace.changes
                ],
                "diff": self._text(workspace.diff or None),
                "cut": not workspace.diff_complete or None,
            }
        )

    def _check(self, result: CheckResult) -> Json:
        details = {name: value for name, value in result.details.items() if name != "votes"}
        return _without_empty(
            {
                "id": one_line(result.id),
                "evaluator": None if result.evaluator == result.id else one_line(result.evaluator),
                "outcome": result.outcome.value,
                "value": result.value,
                "scale": list(result.scale),
                "threshold": result.threshold,
                "negated": result.negated or None,
                "weight": None if result.weight == 1 else result.weight,
                "reason": self._text(result.reason or None),
                "details": self._text(_pretty(details)) if details else None,
                "votes": result.details.get("votes"),
                "error": self._text(if_known(_in_words, result.error)),
                "judge": if_known(one_line, result.judge_model),
            }
        )


def _facts(turn: TurnReport) -> str:
    """Duration, tokens and cost of an answer in one line; what an agent does not report is named as unknown."""
    figures = {
        "duration": seconds(turn.latency_s),
        "tokens in": count(turn.input_tokens),
        "tokens out": count(turn.output_tokens),
        "cost": money(turn.cost_usd),
    }
    known = {name: text for name, text in figures.items() if text != UNKNOWN}
    of_agent = dict.fromkeys(figures, "unknown") | known if turn.tool_calls or turn.workspace else known
    words = [f"{name} {text}" for name, text in of_agent.items()]
    return " · ".join([*words, *filter(None, (if_known(one_line, turn.model), "cached" if turn.cached else None))])


def _content(change: FileChange) -> str | None:
    """Size and hash of a file whose lines are unknown."""
    if change.lines_added is not None or change.change == "removed":
        return None
    size = "size unknown" if change.size is None else plural(change.size, "byte")
    return f"not text, {size}" + ("" if change.sha256 is None else f", sha256 {change.sha256[:12]}")


def without_commands(conclusion: Conclusion) -> Conclusion:
    """`conclusion` without the settings that the command to run a case again would contain."""
    run = conclusion.report.run
    settings = without(run.settings, RUN_SETTINGS)
    return replace(conclusion, report=replace(conclusion.report, run=replace(run, settings=settings)))


def _pretty(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _in_words(problem: Problem) -> str:
    return f"{problem.code}: {problem.message}"


def _without_empty(fields: Mapping[str, object]) -> Json:
    """The fields that are neither unknown nor empty."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [])}
