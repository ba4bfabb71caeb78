"""None of the named tools was called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import NamedToolsCheck, of_tool
from runevals.records import ToolCall, Verdict


@evaluator("tools_not_called")
@dataclass(frozen=True, kw_only=True)
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

    def of_calls(self, calls: Sequence[ToolCall]) -> Verdict:
        called = [tool for tool in self.values if of_tool(calls, tool)]
        if not called:
            return Verdict(1.0, "none of them was called")
        return Verdict(0.0, f"called: {', '.join(called)}", {"called": [call.name for call in calls]})
