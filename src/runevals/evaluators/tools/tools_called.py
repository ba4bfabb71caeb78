"""Every one of the named tools was called."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import NamedToolsCheck


@evaluator("tools_called")
class ToolsCalled(NamedToolsCheck):
    """Passes when each of these tools was called at least once.

    Names are compared without regard to capitals; a tool of a server is found with its prefix and without. A
    target that does not report its tool calls makes this an error (`evidence_missing`).

    Options:
        values: the tools.

    Example:
        {"type": "tools_called", "values": ["search", "read_file"]}
        passes: {"output": "OK", "tool_calls": [{"name": "search"}, {"name": "mcp__fs__read_file"}]}
        fails: {"output": "OK", "tool_calls": [{"name": "search"}]}
    """

    fails_if_called = False
    passes = "every tool was called"
    fails = "not called"
