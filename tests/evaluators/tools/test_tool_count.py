"""How often a tool was called, from `min` to `max`."""

from __future__ import annotations

import pytest

from runevals.records import ToolCall
from tests.evaluators.subjects import NOT_REPORTED, called, checked, refused

CALLED = called(ToolCall(name="search"), ToolCall(name="mcp__docs__fetch"))


@pytest.mark.parametrize(
    ("options", "subject", "passes"),
    [
        ({"tool": "fetch", "min": 1, "max": 1}, CALLED, True),
        ({"tool": "fetch", "min": 2}, CALLED, False),
        ({"tool": "fetch", "max": 0}, CALLED, False),
        ({"tool": "write", "max": 0}, CALLED, True),
        ({"tool": "write", "max": 0}, NOT_REPORTED, None),
    ],
)
def test_it_passes_or_fails_or_has_no_evidence(options, subject, passes):
    assert checked("tool_count", options, subject) is passes


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"tool": "a"}, "needs the option 'min' or 'max'"),
        ({"tool": "", "min": 1}, "tool is blank"),
        ({"tool": "a", "min": -1}, "min is -1; it must not be negative"),
        ({"tool": "a", "min": 3, "max": 2}, "max is 2, below min 3"),
    ],
)
def test_bad_options_are_named(options, told):
    assert told in refused("tool_count", options)
