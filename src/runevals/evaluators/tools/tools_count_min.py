"""At least so many tool calls were made."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import CallsBound


@evaluator("tools_count_min")
class ToolsCountMin(CallsBound):
    """Passes when at least so many tool calls were made, of any tool.

    A target that does not report its tool calls makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at least so many.

    Example:
        {"type": "tools_count_min", "value": 2}
        passes: {"output": "OK", "tool_calls": [{"name": "search"}, {"name": "search"}]}
        fails: {"output": "OK", "tool_calls": [{"name": "search"}]}
    """
