"""Answers that were recorded: JSON Lines by case key, or a run's report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from runevals.lib.parsing.record_json import from_plain
from runevals.lib.parsing.source import read_line, read_lines
from runevals.lib.record_from import record_from
from runevals.lib.storage.store import Store
from runevals.lib.text.suggest import MISSPELT, nearest
from runevals.records import (
    ERROR_CODES,
    Conversation,
    FileProblem,
    Location,
    ModelIdentity,
    Response,
    RunReport,
    TurnReport,
    WorkspaceChanges,
)
from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.kind import Making, Section, TargetSettings, recording
from runevals.targets.program_report import citations, count, failed, number, skills, tool_calls

# What a check may need: without one of these names, a similar one is a mistake.
_EVIDENCE = (("tool_calls", "toolCalls"), ("output", "value", "error"))
Key = tuple[str | None, str, int, int]  # suite (None: any), case, attempt, turn
Answers = Mapping[Key, Sequence[Response]]  # one for each, which may be on disk


class RecordedTarget(Struct, frozen=True):
    """Plays back what was recorded; a case without an answer is `target_failed`.

    `display_path` names the recording; with `reuse`, attempt 1 is used for attempts without an answer.
    """

    answers: Answers
    display_path: str
    model: str | None = None
    reuse: bool = False
    deterministic: bool = True

    def answer(self, conversation: Conversation) -> Response:
        """The recorded answer for this case, attempt and turn."""
        for attempt in (conversation.attempt, 1) if self.reuse else (conversation.attempt,):
            for suite in (conversation.suite, None):
                response = self.answers.get((suite, conversation.case, attempt, conversation.turn))
                if response is not None:
                    return response[0]
        return failed(
            "target_failed",
            f"no recorded answer for case {conversation.case}, attempt {conversation.attempt}, "
            f"turn {conversation.turn} in {self.display_path}",
        )

    def identity(self) -> ModelIdentity:
        """The file; recorded answers are deterministic unless the settings say otherwise."""
        return ModelIdentity(
            type="recorded", model=self.model, deterministic=self.deterministic, detail={"path": self.display_path}
        )

    def close(self) -> None:
        """Nothing to end."""


def answers_in(path: Path, display_path: str) -> Answers:
    """The answers of a file of lines. Raises InvalidSuite with every invalid line."""
    answers: dict[Key, Sequence[Response]] = {}
    store = Store(Response)
    problems: list[FileProblem] = []
    for line_number, line in enumerate(read_lines(path, display_path), start=1):
        if not line.strip():
            continue
        try:
            key, response = recorded_answer(read_line(line))
            if key in answers:
                raise ValueError("this suite, case, attempt and turn was recorded above already")
        except (ValueError, TypeError, KeyError) as error:
            location = Location(file=display_path, line=line_number)
            message = f"is not a recorded answer: {error}"
            problems.append(FileProblem(location=location, pointer="", message=message))
        else:
            answers[key] = store.offload((response,))
    if problems:
        raise InvalidSuite(problems)
    return answers


def answers_of(report: RunReport) -> Answers:
    """The answers of a run."""
    answers: dict[Key, Sequence[Response]] = {}
    store = Store(Response)
    for case in report.cases:
        for attempt in case.attempts:
            for index, turn in enumerate(attempt.turns, start=1):
                answers[case.suite, case.key, attempt.attempt, index] = store.offload((response_of(turn),))
    return answers


def response_of(turn: TurnReport) -> Response:
    """The answer of a turn, as it is in a results document, without the way it came then."""
    came = {"cached": False, "delivery": None, "session": None}
    return record_from(Response, turn, text=turn.output or "", problem=turn.error, **came)


def recorded_answer(row: object) -> tuple[Key, Response]:
    """One line of a recording. Raises ValueError with the invalid field."""
    if not isinstance(row, dict):
        raise ValueError("a line must be an object")
    for names in _EVIDENCE:
        if row.keys().isdisjoint(names) and (key := nearest(names[0], row, least=MISSPELT)) is not None:
            raise ValueError(f"'{key}' is not read; did you mean '{names[0]}'?")
    case = row.get("case")
    if not isinstance(case, str) or not case:
        raise ValueError("'case' must be the key of a case")
    suite = row.get("suite")
    if not isinstance(suite, str | None):
        raise ValueError("'suite' must be text")
    attempt, turn = count(row, "attempt"), count(row, "turn")
    return (suite, case, 1 if attempt is None else attempt, 1 if turn is None else turn), _response(row)


def _response(row: Mapping[str, Any]) -> Response:
    problem = row.get("error")
    if problem is not None:
        if not isinstance(problem, dict):
            raise ValueError("'error' must be an object with code and message")
        code, message = str(problem.get("code", "target_failed")), str(problem.get("message", ""))
        if code not in ERROR_CODES:
            raise ValueError(f"'{code}' is not an error code")
        return failed(code, message)
    output = row.get("output")
    if "value" in row and output is None:
        output = json.dumps(row["value"], ensure_ascii=False)
    if not isinstance(output, str):
        raise ValueError("'output' must be text (or give 'value', or 'error')")
    latency_ms = number(row, "latency_ms")
    return Response(
        text=output,
        tool_calls=tool_calls(row.get("tool_calls", row.get("toolCalls"))),
        skills=skills(row.get("skills")),
        citations=citations(row.get("citations")),
        cost_usd=number(row, "cost_usd", "costUSD"),
        input_tokens=count(row, "input_tokens", "inputTokens"),
        output_tokens=count(row, "output_tokens", "outputTokens"),
        latency_s=None if latency_ms is None else latency_ms / 1000,
        turns=count(row, "turns", "numTurns"),
        value=row.get("value"),
        workspace=_workspace(row.get("workspace")),
    )


def _workspace(value: Any) -> WorkspaceChanges | None:
    """What an attempt left, as results have it. Raises ValueError."""
    try:
        return None if value is None else from_plain(value, WorkspaceChanges)
    except ValueError as error:
        raise ValueError(f"'workspace' cannot be read: {error}") from None


class RecordedSettings(TargetSettings, frozen=True, kw_only=True):
    """Answers of an earlier run."""

    path: Path
    reuse: bool = False

    traits = Traits(
        takes_cwd=True,
        plays_workspaces=True,
        answers_tool_calls=True,
        runs_skills=True,
        stays_here=True,
        takes_model=False,
        is_steady=True,
    )
    word = "path"
    form = "FILE"
    alone = False

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """The file. Raises InvalidSettings, UsageError."""
        path = recording(section.values.get("path"), section.base, section.inside, "target")
        return {"path": path, "files": (path, section.base / section.values["path"]), "reads_other_files": False}

    @property
    def prompts(self) -> tuple[Path, ...]:
        """There are none: its files are answers."""
        return ()

    def build(self, making: Making) -> Target:
        """Raises InvalidSuite, InvalidDocument."""
        return self.answers(making.report_of)

    def answers(self, report_of: Callable[[Path], RunReport | None]) -> RecordedTarget:
        """The answers of a results document, or of a file of lines. Raises InvalidSuite, InvalidDocument."""
        report, name = report_of(self.path), self.path.name
        target = partial(RecordedTarget, display_path=name, reuse=self.reuse, deterministic=self.deterministic)
        if report is not None:
            return target(answers_of(report), model=report.run.target.model)
        answers = answers_in(self.path, name)
        if self.deterministic:
            _require_alike(answers, name)
        return target(answers)


def _require_alike(answers: Answers, display_path: str) -> None:
    """Raises InvalidSettings if an attempt, of which none but the first is made, has another answer."""
    firsts = {(suite, case, 1, turn) for suite, case, _, turn in answers}
    for suite, case, attempt, turn in sorted(answers.keys() - firsts, key=str):  # firsts may be many, and on disk
        (response,) = answers[suite, case, attempt, turn]
        (first,) = answers.get((suite, case, 1, turn), (response,))
        if (first.text, first.value, first.tool_calls) != (response.text, response.value, response.tool_calls):
            raise InvalidSettings(
                f"{display_path} has another answer in attempt {attempt} of {case} than in its first, which is "
                "all that is read of what never varies: set `deterministic: false` for the target"
            )
