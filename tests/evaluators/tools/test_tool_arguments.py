"""The arguments of a call: a part of them or all, nested, as JSON in a text, and not reported."""

from __future__ import annotations

import pytest

from runevals.records import ToolCall
from tests.evaluators.subjects import NOT_REPORTED, called, checked, refused


def ran(given):
    return called(ToolCall(name="Bash", input=given))


CALLED = called(
    ToolCall(name="search", input=None), ToolCall(name="mcp__docs__fetch", input={"path": "a.md", "depth": 2})
)


@pytest.mark.parametrize(
    ("options", "subject", "passes"),
    [
        ({"tool": "FETCH", "match": {"path": "a.md"}}, CALLED, True),
        ({"tool": "fetch", "match": {"path": "b.md"}}, CALLED, False),
        ({"tool": "fetch", "match": {"path": "a.md"}, "mode": "exact"}, CALLED, False),
        ({"tool": "fetch", "match": {"depth": 2.0, "path": "a.md"}, "mode": "exact"}, CALLED, True),
        ({"tool": "Bash", "match": {"a": {"b": 1}}}, ran({"a": {"b": 1, "c": 2}}), True),
        ({"tool": "Bash", "match": {"a": 1}}, ran({"a": True}), False),
        ({"tool": "Bash", "match": {"a": None}}, ran({}), False),  # null is not absent
        ({"tool": "Bash", "match": {"a": [1]}}, ran('{"a": [1]}'), True),  # JSON in a text
        ({"tool": "Bash", "match": {}, "mode": "exact"}, ran({}), True),
        ({"tool": "write", "match": {"a": 1}}, CALLED, False),
        ({"tool": "search", "match": {"a": 1}}, CALLED, None),
        ({"tool": "search", "match": {"a": 1}}, NOT_REPORTED, None),
    ],
)
def test_it_passes_or_fails_or_has_no_evidence(options, subject, passes):
    assert checked("tool_arguments", options, subject) is passes


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"tool": " ", "match": {"a": 1}}, "tool is blank"),
        ({"tool": "a", "match": {}}, "match is empty, which every call has"),
        ({"tool": "a", "match": "b"}, "match must be an object"),
    ],
)
def test_bad_options_are_named(options, told):
    assert told in refused("tool_arguments", options)
