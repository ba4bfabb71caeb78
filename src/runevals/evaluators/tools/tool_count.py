"""A tool was called at least, or at most, so many times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import CallsCheck, of_tool
from runevals.lib.text.numbers import plural
from runevals.records import ToolCall, Verdict


@evaluator("tool_count")
class ToolCount(CallsCheck):
    """Passes when the number of calls of one tool is from `min` to `max`, both inclusive.

    A target that does not report its tool calls makes this an error (`evidence_missing`), never a pass.

    Options:
        tool: the tool; capitals and the prefix of a server do not count.
        min: at least so many.
        max: at most so many.

    Example:
        {"type": "tool_count", "tool": "search", "min": 1, "max": 2}
        passes: {"output": "OK", "tool_calls": [{"name": "search"}, {"name": "read_file"}]}
        fails: {"output": "OK", "tool_calls": [{"name": "read_file"}]}
    """

    tool: str
    min: int | None = None
    max: int | None = None

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not self.tool.strip():
            yield "tool", "tool is blank; write the name of the tool"
        if self.min is None and self.max is None:
            yield None, "tool_count needs the option 'min' or 'max'"
        for name, bound in (("min", self.min), ("max", self.max)):
            if bound is not None and bound < 0:
                yield name, f"{name} is {bound}; it must not be negative"
        if self.min is not None and self.max is not None and self.min > self.max:
            yield "max", f"max is {self.max}, below min {self.min}; no number of calls is both"

    def never_fails(self, expected: str | None) -> str | None:  # noqa: ARG002 - it looks at no expected text
        return "a tool is always called at least 0 times" if self.max is None and not self.min else None

    def of_calls(self, calls: Sequence[ToolCall]) -> Verdict:
        count = len(of_tool(calls, self.tool))
        bounds = {"at least": self.min, "at most": self.max}
        limits = " and ".join(f"{word} {bound}" for word, bound in bounds.items() if bound is not None)
        passed = (self.min or 0) <= count and (self.max is None or count <= self.max)
        return Verdict(float(passed), f"{plural(count, 'call')} of {self.tool}, {limits} wanted")
