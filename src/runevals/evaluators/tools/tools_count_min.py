"""At least so many tool calls were made."""

from __future__ import annotations

from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.limits.bound import Bound


@evaluator("tools_count_min")
@dataclass(frozen=True, kw_only=True)
class ToolsCountMin(Bound):
    """Passes when at least so many tool calls were made, of any tool.

    A target that does not report its tool calls makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at least so many.

    Example:
        {"type": "tools_count_min", "value": 2}
        passes: {"output": "OK", "tool_calls": [{"name": "search"}, {"name": "search"}]}
        fails: {"output": "OK", "tool_calls": [{"name": "search"}]}
    """

    at_least = True
    unit = "calls"
    missing = "the target does not report its tool calls"

    value: int

    def measure(self, subject: Subject) -> float | None:
        calls = subject.response.tool_calls
        return None if calls is None else len(calls)
