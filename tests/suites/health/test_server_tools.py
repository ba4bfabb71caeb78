"""Hints on the tools of MCP servers under test."""

from __future__ import annotations

from runevals.records import Location
from runevals.suites.health.server_tools import ServerTools, server_tools
from tests.sample_suites import plan_of

LOCATION = Location(file="runevals.yaml")


def hints(tmp_path, descriptions, **evaluators):
    plan = plan_of(tmp_path, [{"prompt": "Why?", "evaluators": evaluators}], default_evaluators={})
    return [hint.message for hint in server_tools(plan, ServerTools(descriptions=descriptions, location=LOCATION))]


def test_tools_that_no_check_names_are_named(tmp_path):
    tools = {"search": "", "docs__read": "", "drop": "", "list": ""}
    checks = {
        "tool_sequence": {"steps": ["search"]},
        "tool_arguments": {"tool": "read", "match": {"path": "drop it"}},
        "contains": {"value": "drop"},
    }
    assert hints(tmp_path, tools, **checks) == [
        "drop: no case expects this tool; add a case that needs it, or remove the tool",
        "list: no case expects this tool; add a case that needs it, or remove the tool",
    ]


def test_pairs_of_tools_with_nearly_equal_descriptions_are_named(tmp_path):
    tools = {
        "a": "Searches the documents of a project.",
        "b": "Searches all documents of a project.",
        "c": "Adds.",
        "d": "",
    }
    found = [hint for hint in hints(tmp_path, tools) if "nearly equal" in hint]
    assert found == ["a and b: their descriptions are nearly equal; say in each when to use it"]
