"""A skill's result is what a schema allows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Scripted, Subject
from runevals.evaluators.skill.ended import OfJson, raised, result_of
from runevals.evaluators.structure.json_schema import schema_call, schema_problems, schema_verdict
from runevals.records import Response, Verdict
from runevals.records.script import Answer, Call


@evaluator("schema")
@dataclass(frozen=True, kw_only=True)
class Schema(OfJson, Scripted):
    """Passes when the result validates against the JSON Schema. An error or time-out fails.

    Options:
        schema: the JSON Schema.

    Example:
        "expected": {"type": "schema", "schema": {"type": "array", "items": {"type": "string"}}}
        passes: {"value": ["a", "b"]}
        fails: {"value": ["a", 1]}
    """

    schema: Mapping[str, object]

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return schema_problems(self.schema)

    def of_no_json(self, response: Response) -> Verdict | None:
        return super().of_no_json(response) if "type" in self.schema else None

    def call(self, subject: Subject) -> Call | Verdict:
        failed = raised(subject)
        return schema_call(self.schema, json.dumps(result_of(subject))) if failed is None else failed

    def verdict(self, answer: Answer) -> Verdict:
        return schema_verdict(answer)
