"""The output is JSON that the configured schema allows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.structure.json_schema import OfSchema, schema_call, schema_problems
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

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return () if self.schema is None else schema_problems(self.schema)

    def call(self, subject: Subject) -> Call | Verdict:
        return schema_call(self.schema or {}, subject.response.text)
