"""A skill's result is what a schema allows."""

from __future__ import annotations

import json
from collections.abc import Mapping

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.skill.ended import OfJson, raised, result_of
from runevals.evaluators.structure.json_schema import OfSchema, schema_call
from runevals.records import Response, Verdict
from runevals.records.script import Call


@evaluator("schema")
class Schema(OfJson, OfSchema):
    """Passes when the result validates against the JSON Schema. An error or time-out fails.

    Options:
        schema: the JSON Schema.

    Example:
        "expected": {"type": "schema", "schema": {"type": "array", "items": {"type": "string"}}}
        passes: {"value": ["a", "b"]}
        fails: {"value": ["a", 1]}
    """

    schema: Mapping[str, object]

    def of_no_json(self, response: Response) -> Verdict | None:
        return super().of_no_json(response) if "type" in self.schema else None

    def call(self, subject: Subject) -> Call | Verdict:
        return raised(subject) or schema_call(self.schema, json.dumps(result_of(subject)))
