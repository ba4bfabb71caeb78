"""The tools of an answer as a list of steps: the four modes, and bad options."""

from __future__ import annotations

import pytest

from runevals.records import ToolCall
from tests.evaluators.subjects import NOT_REPORTED, called, checked, refused


def stepped(*tools):
    return called(*(ToolCall(name=tool) for tool in tools))


@pytest.mark.parametrize(
    ("options", "subject", "passes"),
    [
        ({"steps": ["Search", "fetch"], "mode": "exact"}, stepped("search", "mcp__docs__fetch"), True),
        ({"steps": ["fetch", "search"], "mode": "exact"}, stepped("search", "mcp__docs__fetch"), False),
        ({"steps": ["search"], "mode": "exact"}, stepped("search", "mcp__docs__fetch"), False),
        ({"steps": ["search", "fetch", "fetch"], "mode": "exact"}, stepped("search", "mcp__docs__fetch"), False),
        ({"steps": ["search", "fetch"]}, stepped("search", "think", "fetch"), True),  # in_order
        ({"steps": ["search", "fetch"]}, stepped("fetch", "search"), False),
        ({"steps": ["fetch", "fetch"]}, stepped("fetch", "search"), False),  # a call is one step
        ({"steps": ["fetch", "search"], "mode": "any_order"}, stepped("search", "x", "fetch"), True),
        ({"steps": ["fetch", "fetch"], "mode": "any_order"}, stepped("fetch", "search"), False),
        ({"steps": ["search", "fetch"], "mode": "subset"}, stepped("fetch", "fetch"), True),
        ({"steps": ["search"], "mode": "subset"}, called(), True),
        ({"steps": ["search"], "mode": "subset"}, stepped("search", "mcp__docs__fetch"), False),
        *(
            ({"steps": ["search"], "mode": mode}, NOT_REPORTED, None)
            for mode in ("exact", "in_order", "any_order", "subset")
        ),
    ],
)
def test_it_passes_or_fails_or_has_no_evidence(options, subject, passes):
    assert checked("tool_sequence", options, subject) is passes


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"steps": []}, "steps must be a list with at least one entry"),
        ({"steps": ["a", " "]}, "steps holds a blank name"),
        ({"steps": ["a"], "mode": "superset"}, "mode must be one of exact, in_order"),
    ],
)
def test_bad_options_are_named(options, told):
    assert told in refused("tool_sequence", options)
