import json

import pytest

from runevals.evaluators.structure.json_schema import JsonSchema
from tests.evaluators.subjects import answering, run

PERSON = {
    "type": "object",
    "required": ["name", "age"],
    "properties": {"name": {"type": "string"}, "age": {"type": "number"}},
}


@pytest.mark.parametrize(
    ("schema", "text", "score"),
    [
        pytest.param(PERSON, '{"name": "张三", "age": 25}', 1.0, id="the seed's example"),
        pytest.param(PERSON, '  {"name": "A", "age": 25}\n', 1.0, id="white space around"),
        pytest.param(PERSON, '{"name": "A"}', 0.0, id="a field is missing"),
        pytest.param(PERSON, '```json\n{"name": "A", "age": 1}\n```', 0.0, id="fences are not JSON"),
        pytest.param({}, "[1, NaN]", 0.0, id="NaN is not JSON"),
        pytest.param({"format": "date"}, '"2024-13-01"', 0.0, id="formats are asserted"),
        pytest.param({"pattern": r"^\d$"}, '"١"', 0.0, id="patterns are JavaScript's"),
        pytest.param({"exclusiveMinimum": 3}, "3", 0.0, id="draft 7 by default"),
        pytest.param(
            {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True},
            "3",
            0.0,
            id="the draft that $schema names",
        ),
        pytest.param({"$defs": {"a": {"type": "null"}}, "$ref": "#/$defs/a"}, "null", 1.0, id="references inside"),
    ],
)
def test_json_schema(sandbox, schema, text, score):
    assert run(JsonSchema(schema=schema), answering(text), sandbox).score == score


def test_code_fences_can_be_stripped_before_validation(sandbox):
    fenced = answering('```json\n{"name": "A", "age": 1}\n```')
    assert run(JsonSchema(schema=PERSON, strip_fences=True), fenced, sandbox).score == 1.0


def test_the_reason_names_the_path_in_the_json(sandbox):
    verdict = run(JsonSchema(schema=PERSON), answering('{"name": "A", "age": "old"}'), sandbox)
    assert verdict.reason == "$.age: 'old' is not of type 'number'"


def test_text_that_is_not_json_fails_with_that_reason(sandbox):
    assert run(JsonSchema(schema=PERSON), answering("Hello"), sandbox).reason.startswith(
        "output is not valid JSON: "
    )


def test_a_runaway_pattern_in_a_schema_is_an_error(sandbox):
    answer = run(JsonSchema(schema={"pattern": "(a+)+$"}), answering('"' + "a" * 40_000 + 'b"'), sandbox)
    assert answer.error == "evaluator_timeout"


def test_references_to_the_network_are_not_followed(sandbox):
    answer = run(JsonSchema(schema={"$ref": "http://127.0.0.1:9/x.json"}), answering("1"), sandbox)
    assert answer.error == "evaluator_crashed"
    assert "Unresolvable" in answer.reason


def test_an_invalid_schema_is_reported_when_the_evaluator_is_built():
    assert list(JsonSchema(schema={"type": "objekt"}).problems())
    assert not list(JsonSchema(schema=PERSON).problems())
    told = [
        sentence for _, sentence in JsonSchema(schema={"items": {"$ref": "http://x.example/s.json"}}).problems()
    ]
    assert told == ["$ref http://x.example/s.json leads outside the schema; copy what it names into $defs"]
    assert list(JsonSchema(schema={"$ref": "#/$defs/absent"}).problems())
    assert not list(JsonSchema(schema={"$defs": {"a b/c": {}}, "$ref": "#/$defs/a%20b~1c"}).problems())


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("date-time", "2026-11-20T12:00:00Z"),
        ("date", "2026-11-20"),
        ("time", "12:00:00Z"),
        ("duration", "P1DT2H"),
        ("email", "a@example.com"),
        ("hostname", "a.example.com"),
        ("ipv4", "127.0.0.1"),
        ("ipv6", "::1"),
        ("uri", "https://example.com/a?b"),
        ("uri-reference", "../a"),
        ("iri", "https://example.com/é"),
        ("iri-reference", "é"),
        ("uri-template", "/a/{b}"),
        ("json-pointer", "/a/b"),
        ("relative-json-pointer", "1/a"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
        ("regex", "a+"),
    ],
)
def test_formats_are_all_asserted(sandbox, name, good):
    schema = JsonSchema(schema={"$schema": "https://json-schema.org/draft/2019-09/schema", "format": name})
    assert run(schema, answering(json.dumps(good)), sandbox).score == 1.0
    assert run(schema, answering('"not a [ valid { value"'), sandbox).score == 0.0


@pytest.mark.parametrize(
    ("name", "text", "score"),
    [
        pytest.param("date-time", "1998-12-31T23:59:60Z", 1.0, id="a leap second"),
        pytest.param("time", "12:00:00", 0.0, id="a time without a zone"),
        pytest.param("hostname", "example.com\n", 0.0, id="a line break"),
        pytest.param("hostname", "-a.example", 0.0, id="a hyphen first"),
        pytest.param("relative-json-pointer", "100", 1.0, id="a number above nine"),
        pytest.param("uri", "//example.com/a", 0.0, id="no scheme"),
        pytest.param("uri-template", "/a/{b", 0.0, id="a brace that is not closed"),
        pytest.param("uri", "https://example.com/\ud83d", 0.0, id="half of a character"),
        pytest.param("duration", "P\u09e8Y", 0.0, id="digits of another script"),
    ],
)
def test_formats_are_those_of_their_standards(sandbox, name, text, score):
    assert run(JsonSchema(schema={"format": name}), answering(json.dumps(text)), sandbox).score == score


@pytest.mark.parametrize(
    ("schema", "text", "score"),
    [
        ({"patternProperties": {r"^\p{L}+$": {"type": "number"}}}, '{"é": "x"}', 0.0),
        ({"patternProperties": {r"^\d$": {"type": "number"}}}, '{"١": "x"}', 1.0),
        ({"patternProperties": {"^a": {}}, "additionalProperties": False}, '{"ab": 1}', 1.0),
        ({"patternProperties": {"^a": {}}, "additionalProperties": False}, '{"b": 1}', 0.0),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "number"}}, '{"a": "x", "b": "y"}', 0.0),
    ],
)
def test_patterns_of_property_names_are_javascript_patterns(sandbox, schema, text, score):
    assert run(JsonSchema(schema=schema), answering(text), sandbox).score == score
