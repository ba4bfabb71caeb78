"""At most so many tool calls were made."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import CallsBound


@evaluator("tools_count_max", "max_steps")
class ToolsCountMax(CallsBound):
    """Passes when at most so many tool calls were made, of any tool. `max_steps` is another name of it.

    A target that does not report its tool calls makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at most so many.

    Example:
        {"type": "tools_count_max", "value": 2}
        passes: {"output": "OK", "tool_calls": [{"name": "search"}]}
        fails: {"output": "OK", "tool_calls": [{"name": "search"}, {"name": "search"}, {"name": "search"}]}
    """
