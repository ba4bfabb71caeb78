"""Answers with human scores, read from a file, to calibrate a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from runevals.evaluators import catalogue
from runevals.evaluators.kinds import Judged
from runevals.lib.parsing.shapes import list_in
from runevals.lib.parsing.source import JsonPath, Source
from runevals.records import Case, FileProblem, Response, Suite, Turn
from runevals.records.errors import InvalidSuite
from runevals.suites.dialects import TABLES, checking, read
from runevals.suites.dialects.rows import read_csv

NAME = "gold"
People = tuple[float, ...]


class Gold(Struct, frozen=True, kw_only=True):
    """Scored answers as a suite of recorded responses; `scores` are what people gave, by case key."""

    suite: Suite
    scores: Mapping[str, People]


def read_gold(path: Path, display_path: str, evaluator: str | None, definitions: checking.Definitions) -> Gold:
    """JSON, YAML, JSON Lines or CSV → gold. `evaluator` is used for rows that name none.

    Raises InvalidSuite with every problem.
    """
    source = read(path, display_path)
    if TABLES.get(path.suffix) is read_csv:
        for row in list_in(source.value):
            row.update(_numbers(row))
    file = checking.wrapped_list(source, NAME, "answers")
    document, root, problems = file.document, file.root, file.problems
    if problems:
        raise InvalidSuite(problems)
    rows = [
        _Row(
            source,
            (*root, index),
            {"evaluator": "rubric" if "rubric" in row else evaluator, **row},
            str(row.get("id") or index + 1),
        )
        for index, row in enumerate(document["answers"])
    ]
    problems = [problem for row in rows for problem in row.problems(definitions)]
    keys = [row.key for row in rows]
    problems += [
        row.source.problem(row.json_path, f"duplicate id '{row.key}'")
        for index, row in enumerate(rows)
        if row.key in keys[:index]
    ]
    if problems:
        raise InvalidSuite(checking.sorted_by_position(problems))
    return Gold(
        suite=Suite(
            name=display_path, path=display_path, dialect=NAME, cases=tuple(row.case(definitions) for row in rows)
        ),
        scores={row.key: row.scores for row in rows},
    )


class _Row(Struct, frozen=True):
    source: Source
    json_path: JsonPath
    values: Mapping[str, Any]
    key: str

    @property
    def scores(self) -> People:
        return tuple(self.values["scores"]) if "scores" in self.values else (self.values["score"],)

    @property
    def options(self) -> dict[str, object]:
        return {"rubric": self.values["rubric"]} if "rubric" in self.values else {}

    def problems(self, definitions: checking.Definitions) -> Iterator[FileProblem]:
        """Why this answer cannot be compared with its human scores."""
        name = self.values["evaluator"]
        if name is None:
            message = "does not name the evaluator of its score; add 'evaluator', or use --evaluator"
            yield self.source.problem(self.json_path, message)
            return
        if ("score" in self.values) == ("scores" in self.values):
            yield self.source.problem(self.json_path, "needs either 'score' or 'scores'")
            return
        problems = list(checking.evaluator_problems(self.source, self.json_path, name, self.options, definitions))
        yield from problems
        if problems:
            return
        evaluator = catalogue.build(self._spec(definitions)).evaluator
        if not isinstance(evaluator, Judged):
            yield self.source.problem((*self.json_path, "evaluator"), f"{name} does not use a judge")
            return
        for score in self.scores:
            if not evaluator.scale.holds(score):
                message = f"the score {score} is outside {name}'s scale, {evaluator.scale}"
                yield self.source.problem(self.json_path, message)

    def case(self, definitions: checking.Definitions) -> Case:
        location = self.source.locate(self.json_path)
        turn = Turn(
            prompt=self.values.get("input") or "",
            expected=self.values.get("expected"),
            context=self.values.get("context"),
            checks=(self._spec(definitions),),
            recorded=Response(text=self.values["output"]),
            location=location,
        )
        return Case(suite=self.source.path, key=self.key, name=self.key, turns=(turn,), location=location)

    def _spec(self, definitions: checking.Definitions) -> Any:
        return checking.spec_at(self.source, self.json_path, self.values["evaluator"], self.options, definitions)


def _numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """The scores of a CSV row as numbers, if they are numbers; several are separated by semicolons."""
    scores: dict[str, Any] = {}
    for name in ("score", "scores"):
        try:
            numbers = list(map(float, filter(None, map(str.strip, str(row.get(name) or "").split(";")))))
        except ValueError:
            continue
        if numbers:
            scores[name] = numbers if name == "scores" else numbers[0]
    return scores
