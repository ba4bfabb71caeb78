"""At most so many tool calls were made."""

from __future__ import annotations

from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.limits.bound import Bound


@evaluator("tools_count_max", "max_steps")
@dataclass(frozen=True, kw_only=True)
class ToolsCountMax(Bound):
    """Passes when at most so many tool calls were made, of any tool. `max_steps` is another name of it.

    A target that does not report its tool calls makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at most so many.

    Example:
        {"type": "tools_count_max", "value": 2}
        passes: {"output": "OK", "tool_calls": [{"name": "search"}]}
        fails: {"output": "OK", "tool_calls": [{"name": "search"}, {"name": "search"}, {"name": "search"}]}
    """

    at_least = False
    unit = "calls"
    missing = "the target does not report its tool calls"

    value: int

    def measure(self, subject: Subject) -> float | None:
        calls = subject.response.tool_calls
        return None if calls is None else len(calls)
