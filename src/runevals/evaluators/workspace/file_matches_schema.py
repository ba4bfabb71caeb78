"""A file of the workspace is JSON that a schema allows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.structure.json_schema import OfSchema, schema_call, schema_problems
from runevals.evaluators.workspace.evidence import OfFile, file_of
from runevals.records import Problem, Verdict
from runevals.records.script import Call


@evaluator("file_matches_schema")
class FileMatchesSchema(OfFile, OfSchema):
    r"""Passes when the file at this path of the workspace is JSON and the schema allows it, as for `json_schema`.

    Files up to 256 KiB are read. A target without a workspace makes this an error (`evidence_missing`).

    Options:
        path: the path in the workspace.
        schema: the JSON Schema.

    Example:
        "evaluators": {"file_matches_schema": {"path": "o", "schema": {"required": ["n"]}}}
        passes: {"output": "OK", "workspace": {"files": [{"path": "o", "kind": "file", "text": "{\"n\": 3}"}]}}
        fails: {"output": "OK", "workspace": {"files": [{"path": "o", "kind": "file", "text": "{}"}]}}
    """

    schema: Mapping[str, object]

    def problems(self) -> Iterable[tuple[str | None, str]]:
        yield from super().problems()
        yield from schema_problems(self.schema)

    def call(self, subject: Subject) -> Call | Verdict | Problem:
        file = file_of(subject, self.path)
        if isinstance(file, Problem):
            return file
        if file.text is None:
            return Verdict(0.0, f"there is no text at {self.path}")
        return schema_call(self.schema, file.text)
