"""Assertions on what a transform makes of an answer, and on tool calls."""

from __future__ import annotations

FUNCTION = {"name": "f", "parameters": {"required": ["q"]}}
TOOLS = {"tools": [{"type": "function", "function": FUNCTION}]}
CALL = {"output": "", "tool_calls": [{"name": "f", "input": {"q": "Rome"}}]}
OTHER_CALL = {"output": "", "tool_calls": [{"name": "g", "input": {}}]}
INCOMPLETE = {"output": "", "tool_calls": [{"name": "f", "input": {}}]}
ROWS = [
    ("equals", "a", "output.trim()[0]", " ab", "b"),
    ("equals", {"a": 1}, "JSON.parse(output).b", {"b": {"a": 1}}, {"b": 2}),
    ("contains-any", ["x", "y"], "JSON.parse(output).l", {"l": ["y"]}, {"l": []}),
    ("not-icontains", "X", "output.slice(1)", "xa", "ax"),
    ("regex", "^b+$", "output.slice(1)", "abb", "ab "),
    ("is-json", {"required": ["n"]}, "output.slice(1)", 'a{"n": 1}', "a{}"),
]


def test_a_transformed_answer_gives_the_same_verdicts(verdicts):
    table = {
        f"{number}, {kind}": ({}, {"type": kind, "value": value, "transform": transform}, *answers)
        for number, (kind, value, transform, *answers) in enumerate(ROWS)
    }
    assert verdicts(table) == {}


def test_tool_calls_are_compared_as_promptfoo_gives_them(verdicts):
    name = {"type": "equals", "value": "f", "transform": "output[0].function.name"}
    valid = {"type": "is-valid-openai-tools-call"}
    table = {
        "name of a call": (TOOLS, name, CALL, OTHER_CALL),
        "declared": (TOOLS, valid, CALL, OTHER_CALL),
        "by its schema": (TOOLS, valid, CALL, INCOMPLETE),
        "call is JSON": ({"functions": [FUNCTION]}, {"type": "is-json"}, CALL, {"output": "Rome"}),
    }
    assert verdicts(table) == {}
