"""The output is JSON that the configured schema allows."""

from __future__ import annotations

from collections.abc import Mapping

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.structure.json_schema import OfSchema, schema_call
from runevals.records import Verdict
from runevals.records.script import Call


@evaluator("preset-json-schema")
class PresetJsonSchema(OfSchema):
    """Passes when the output parses as JSON and the schema allows it; without a schema, any JSON passes.

    Options:
        schema: the JSON Schema; draft-07 unless `$schema` names another.

    Example:
        "evaluators": {"preset-json-schema": {"schema": {"type": "object", "required": ["name", "age"]}}}
        passes: {"name": "Ann", "age": 34}
        fails: {"name": "Ann"}
    """

    schema: Mapping[str, object] | None = None

    def call(self, subject: Subject) -> Call | Verdict:
        return schema_call(self.schema or {}, subject.response.text)
