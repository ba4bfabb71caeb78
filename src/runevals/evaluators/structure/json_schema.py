"""The response is JSON that a schema allows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Scripted, Subject
from runevals.lib.parsing.shapes import list_in
from runevals.lib.parsing.strict_json import refuse_constant
from runevals.records import Verdict
from runevals.records.script import Answer, Call


class OfSchema(Scripted):
    """Validates a JSON text against a schema."""

    schema: Mapping[str, object] | None

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return () if self.schema is None else schema_problems(self.schema)

    def verdict(self, answer: Answer) -> Verdict:
        """The validation errors with their JSON paths."""
        complaints = list_in(answer.value)
        if not complaints:
            return Verdict(1.0, "the output follows the schema")
        messages = "; ".join(str(complaint) for complaint in complaints[:3])
        rest = f"; and {len(complaints) - 3} more" if len(complaints) > 3 else ""
        return Verdict(0.0, messages + rest, {"errors": complaints})


@evaluator("json_schema")
class JsonSchema(OfSchema):
    """Passes when the whole response is JSON and the schema allows it. White space around it is fine.

    The draft is the one that `$schema` names, else draft-07. `format` is asserted, `pattern` is JavaScript's,
    `$ref` resolves inside the schema only, NaN and Infinity are not JSON.

    Options:
        schema: the JSON Schema.
        strip_fences: also accept JSON inside one fenced code block.

    Example:
        "evaluators": {"json_schema": {"schema": {"type": "object", "required": ["name"]}}}
        passes: {"name": "Ann"}
        fails: {"age": 34}
    """

    schema: Mapping[str, object]
    strip_fences: bool = False

    def call(self, subject: Subject) -> Call | Verdict:
        text = subject.response.text
        return schema_call(self.schema, without_fences(text) if self.strip_fences else text)


def schema_problems(schema: Mapping[str, object]) -> Iterable[tuple[str | None, str]]:
    """What keeps `schema` from being a JSON Schema."""
    import jsonschema  # 100 ms that only suites with schemas pay

    try:
        cls = jsonschema.validators.validator_for(schema, default=jsonschema.Draft7Validator)
        errors = list(cls(cls.META_SCHEMA).iter_errors(dict(schema)))  # type: ignore[arg-type] # it came from JSON
    except (TypeError, RecursionError) as refusal:
        yield "schema", f"is not a JSON Schema: {type(refusal).__name__}: {str(refusal)[:200]}"
        return
    yield from (("schema", f"is not a JSON Schema: {error.json_path}: {error.message}") for error in errors)
    for reference in _references(schema):
        if not reference.startswith("#"):
            yield "schema", f"$ref {reference} leads outside the schema; copy what it names into $defs"
        elif reference.startswith("#/") and not _resolves(schema, reference):
            yield "schema", f"$ref {reference} leads nowhere in the schema"


def _references(node: object) -> Iterable[str]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            if key in ("$ref", "$dynamicRef") and isinstance(value, str):
                yield value
            yield from _references(value)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


def _resolves(schema: object, reference: str) -> bool:
    for step in unquote(reference[2:]).split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, Mapping) and name in schema:
            schema = schema[name]
        elif isinstance(schema, list) and name.isdigit() and int(name) < len(schema):
            schema = schema[int(name)]
        else:
            return False
    return True


def schema_call(schema: Mapping[str, object], text: str) -> Call | Verdict:
    """The call that validates `text`, or the verdict that it is not JSON."""
    return no_json(text) or Call(
        kind="json_schema", code=json.dumps(schema, sort_keys=True), arguments={"text": text}
    )


def no_json(text: str) -> Verdict | None:
    """The verdict that a text is not JSON; None if it is."""
    try:
        json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        return Verdict(0.0, f"output is not valid JSON: {error}")
    return None


def without_fences(text: str) -> str:
    """The content of the code block, if a text is one fenced code block; otherwise the text."""
    lines = text.strip().splitlines()
    if len(lines) >= 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text
