"""Every one of the named tools was called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import NamedToolsCheck, of_tool
from runevals.records import ToolCall, Verdict


@evaluator("tools_called")
@dataclass(frozen=True, kw_only=True)
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

    def of_calls(self, calls: Sequence[ToolCall]) -> Verdict:
        missing = [tool for tool in self.values if not of_tool(calls, tool)]
        if not missing:
            return Verdict(1.0, "every tool was called")
        return Verdict(0.0, f"not called: {', '.join(missing)}", {"called": [call.name for call in calls]})
