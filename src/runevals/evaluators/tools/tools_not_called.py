"""None of the named tools was called."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import NamedToolsCheck


@evaluator("tools_not_called")
class ToolsNotCalled(NamedToolsCheck):
    """Passes when none of these tools was called.

    Names are compared without regard to capitals; a tool of a server is found with its prefix and without. A
    target that does not report its tool calls makes this an error (`evidence_missing`).

    Options:
        values: the tools.

    Example:
        {"type": "tools_not_called", "values": ["delete_file"]}
        passes: {"output": "OK", "tool_calls": [{"name": "search"}]}
        fails: {"output": "OK", "tool_calls": [{"name": "delete_file"}]}
    """

    fails_if_called = True
    passes = "none of them was called"
    fails = "called"
