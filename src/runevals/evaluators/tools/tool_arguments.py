"""A tool was called with these arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import missing
from runevals.evaluators.skill.ended import json_equal
from runevals.evaluators.tools.calls import CallsCheck, decoded, of_tool
from runevals.lib.parsing.shapes import is_subset
from runevals.records import Problem, ToolCall, Verdict


@evaluator("tool_arguments")
class ToolArguments(CallsCheck):
    """Passes when a call of the tool has these arguments.

    Values are compared as JSON: `true` is not `1`, and `1` is `1.0`.

    A target that does not report its tool calls, or their input, makes this an error (`evidence_missing`).

    Options:
        tool: the tool; capitals and the prefix of a server do not count.
        match: the arguments and their values.
        mode: `partial`, the call may have other arguments too, in nested objects too; `exact`, it has no other.

    Example:
        {"type": "tool_arguments", "tool": "search", "match": {"q": "refund"}}
        passes: {"output": "OK", "tool_calls": [{"name": "search", "input": {"q": "refund", "limit": 5}}]}
        fails: {"output": "OK", "tool_calls": [{"name": "search", "input": {"q": "warranty"}}]}
    """

    tool: str
    match: Mapping[str, object]
    mode: Literal["partial", "exact"] = "partial"

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not self.tool.strip():
            yield "tool", "tool is blank; write the name of the tool"
        if self.mode == "partial" and not self.match:
            yield "match", "match is empty, which every call has; name an argument, or use tools_called"

    def of_calls(self, calls: Sequence[ToolCall]) -> Verdict | Problem:
        of_this = of_tool(calls, self.tool)
        same = json_equal if self.mode == "exact" else is_subset
        if any(call.input is not None and same(self.match, decoded(call.input)) for call in of_this):
            return Verdict(1.0, f"a call of {self.tool} has these arguments")
        if any(call.input is None for call in of_this):
            return missing(f"the target does not report the input of every call of {self.tool}")
        inputs = [call.input for call in of_this]
        return Verdict(0.0, f"not the arguments of any of {len(of_this)} calls of {self.tool}", {"inputs": inputs})
