"""The cases of the page: a row of the table each, and the details that are read when a case is opened."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.text.escape import one_line, visible
from runevals.lib.text.numbers import money, plural, score, seconds
from runevals.records import (
    AttemptReport,
    CaseReport,
    Change,
    CheckResult,
    Conclusion,
    FileChange,
    Outcome,
    ToolCall,
    TurnReport,
    WorkspaceChanges,
)
from runevals.reports.next_steps import RUN_SETTINGS, again
from runevals.verdict.wording import because, first_error, first_failure, runs_passed

Json = dict[str, Any]

# Beyond this, a page is slow to download and to open: then the least important cases have no texts.
MOST_CHARACTERS = 20_000_000
LARGE_SHARE = 0.1  # of it, from which a single case is left out so that the others have room
_SPEAKERS = {"user": "Simulated user", "assistant": "Target"}
_NOTHING: Mapping[str, object] = {}
_RANKS = (
    "regressed", "edited and failing", "failed", "errored", "quarantined", "worse", "flaky", "fixed", "better",
)  # fmt: skip


class CasePair(Struct, frozen=True, kw_only=True):
    """One case as both sides ran it; one of them may be missing."""

    head: CaseReport | None
    base: CaseReport | None
    change: Change | None

    @property
    def case(self) -> CaseReport:
        """The head's, else the base's."""
        case = self.head or self.base
        assert case is not None  # noqa: S101 - a pair has a side
        return case

    @property
    def added(self) -> bool:
        """Whether the base does not have it."""
        return self.change is not None and self.change.change == "added"

    @property
    def status(self) -> str:
        """The head's status; "removed" if only the base has the case."""
        return "removed" if self.head is None else self.head.status.value

    @property
    def rank(self) -> int:
        """The order of importance, from 0."""
        kind: str = "" if self.change is None else self.change.change
        failing = self.status == Outcome.FAILED.value
        if kind == "edited" and failing and self.base is not None and self.base.status is Outcome.PASSED:
            kind = "edited and failing"
        labels = (kind, self.status, "flaky" if self.case.flaky else "")
        ranks = [_RANKS.index(name) for name in labels if name in _RANKS]
        return min(ranks, default=len(_RANKS) + (not kind))


def case_pairs(conclusion: Conclusion) -> list[CasePair]:
    """Every case of the head in suite order, each with its base if that is known, then the removed ones."""
    comparison = conclusion.comparison
    changes: dict[tuple[str, str], Change] = {}
    bases: dict[tuple[str, str], CaseReport] = {}
    if comparison is not None:
        changes = {(change.suite, change.key): change for change in comparison.changes}
        bases = {(case.suite, case.key): case for case in comparison.base.cases}
    pairs = []
    for case in conclusion.report.cases:
        place = (case.suite, case.key)
        change = changes.pop(place, None)
        base = bases.get(place) if change is None else change.base
        pairs.append(CasePair(head=case, base=base, change=change))
    return pairs + [CasePair(head=c.head, base=c.base, change=c) for c in changes.values() if c.head or c.base]


def rows(pairs: Sequence[CasePair]) -> list[Json]:
    """The rows of the table, in suite order."""
    return [_row(pair) for pair in pairs]


def _row(pair: CasePair) -> Json:
    case, change = pair.case, pair.change
    return _without_empty(
        {
            "suite": visible(case.suite),
            "key": one_line(case.key, 500),
            "name": "" if case.name == case.key else one_line(case.name, 500),
            "category": _maybe(case.category),
            "tags": [one_line(tag) for tag in case.tags],
            "place": one_line(case.file if case.line is None else f"{case.file}:{case.line}", 500),
            "status": pair.status,
            "change": _change(change),
            "label": _label(change),
            "runs": None if pair.head is None else runs_passed(pair.head),
            "was": None if pair.base is None else runs_passed(pair.base),
            "score": _score(pair.head),
            "scored": _score(pair.base),
            "slowest": slowest(case),
            "why": _why(case),
            "notes": None if case.notes is None else one_line(case.notes, 2000),
            "checks": list(dict.fromkeys(one_line(result.id) for result in _results(case))),
            "marks": [
                mark
                for mark, holds in (
                    ("flaky", case.flaky),
                    ("critical", case.critical),
                    ("quarantined", case.quarantined),
                )
                if holds
            ],
            "rank": pair.rank,
        }
    )


def _change(change: Change | None) -> str | None:
    """Its kind; a case that is not confirmed as lost is not called regressed."""
    if change is None:
        return None
    return "fails now" if change.change == "regressed" and change.label != "confirmed" else change.change


def _label(change: Change | None) -> str | None:
    return None if change is None or change.label in (change.change, "new", "suspect") else change.label


def slowest(case: CaseReport) -> float | None:
    """The slowest answer of a case; None if no answer has a duration."""
    known = [t.latency_s for attempt in case.attempts for t in attempt.turns if t.latency_s is not None]
    return max(known, default=None)


def _score(case: CaseReport | None) -> str | None:
    return None if case is None or case.composite is None else score(case.composite)


def _why(case: CaseReport) -> str:
    failure = first_failure(case)
    if failure is not None:
        return one_line(f"{failure[1].id}: {because(failure[1])}")
    return one_line(first_error(case) or "") if case.unmeasured else ""


def _results(case: CaseReport) -> Iterable[CheckResult]:
    return (result for attempt in case.attempts for turn in attempt.turns for result in turn.results)


def bodies(
    pairs: Sequence[CasePair], settings: Mapping[str, object] | None = _NOTHING, most: int = MOST_CHARACTERS
) -> str:
    """A JSON array with one case a line, so that the page need read only the cases that are opened.

    If that is too large, only the most important cases are included; the others are null. With `settings` None,
    the page has no command that runs a case again.
    """
    lines = ["null"] * len(pairs)
    left = most
    for index in sorted(range(len(pairs)), key=lambda index: pairs[index].rank):
        line = json.dumps(_Body(pairs[index], settings).document, separators=(",", ":"))
        if len(line) <= left:
            left -= len(line)
            lines[index] = line
        elif len(line) < LARGE_SHARE * most:
            break
    return "[\n" + ",\n".join(lines) + "\n]"


class _Body:
    """One case, each of its texts written once: most occur in every attempt and on both sides."""

    def __init__(self, pair: CasePair, settings: Mapping[str, object] | None) -> None:
        self._texts: dict[str, int] = {}
        case = pair.case
        self.document: Json = {
            "again": None if settings is None else again(case, settings),
            "head": [] if pair.head is None else [self._attempt(attempt) for attempt in pair.head.attempts],
            "base": [] if pair.base is None else [self._attempt(attempt) for attempt in pair.base.attempts],
        }
        self.document["texts"] = list(self._texts)

    def _text(self, text: str | None) -> int | None:
        return None if text is None else self._texts.setdefault(visible(text), len(self._texts))

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
                "error": self._text(None if turn.error is None else f"{turn.error.code}: {turn.error.message}"),
                "facts": _facts(turn),
                "citations": [
                    self._text(f"{cited.text} ({cited.source})" if cited.source else cited.text)
                    for cited in turn.citations or ()
                ],
                "usage": usage(turn) if turn.tool_calls or turn.workspace else None,
                "calls": [self._call(call) for call in turn.tool_calls or ()],
                "no_calls": turn.tool_calls == () or None,  # without calls and without this they are unknown
                "refused": [one_line(tool) for tool in turn.refused],
                "files": None if turn.workspace is None else self._files(turn.workspace),
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
                "mock": _maybe(call.mock),
                "took": None if call.duration_s is None else seconds(call.duration_s),
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
        error = None if result.error is None else f"{result.error.code}: {result.error.message}"
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
                "error": self._text(error),
                "judge": _maybe(result.judge_model),
            }
        )


def _facts(turn: TurnReport) -> str:
    """Duration, cost and tokens of an answer in one line, as far as they are known."""
    parts = [
        None if turn.latency_s is None else seconds(turn.latency_s),
        None if turn.cost_usd is None else money(turn.cost_usd),
        None if turn.input_tokens is None else f"{turn.input_tokens} tokens in",
        None if turn.output_tokens is None else f"{turn.output_tokens} tokens out",
        _maybe(turn.model),
        "cached" if turn.cached else None,
    ]
    return " · ".join(part for part in parts if part)


def usage(turn: TurnReport) -> str:
    """Duration, tokens and cost of an agent's answer in one line; what it does not report is named as unknown."""
    parts = (
        ("duration", None if turn.latency_s is None else seconds(turn.latency_s)),
        ("tokens in", _count(turn.input_tokens)),
        ("tokens out", _count(turn.output_tokens)),
        ("cost", None if turn.cost_usd is None else money(turn.cost_usd)),
    )
    return " · ".join(f"{name} {'unknown' if value is None else value}" for name, value in parts)


def _count(number: int | None) -> str | None:
    return None if number is None else f"{number:,}".replace(",", "\u202f")


def _content(change: FileChange) -> str | None:
    """Size and hash of a file whose lines are unknown."""
    if change.lines_added is not None or change.change == "removed":
        return None
    size = "size unknown" if change.size is None else plural(change.size, "byte")
    return f"not text, {size}" + ("" if change.sha256 is None else f", sha256 {change.sha256[:12]}")


def without_commands(conclusion: Conclusion) -> Conclusion:
    """`conclusion` without the settings that the command to run a case again would contain."""
    run = conclusion.report.run
    settings = {name: value for name, value in run.settings.items() if name not in RUN_SETTINGS}
    return replace(conclusion, report=replace(conclusion.report, run=replace(run, settings=settings)))


def _pretty(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _maybe(text: str | None) -> str | None:
    return None if text is None else one_line(text)


def _without_empty(fields: Mapping[str, object]) -> Json:
    """The fields that are neither unknown nor empty."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [])}
