"""A tool's output contained a text."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import NeedleCheck


@evaluator("tool_output_contains")
class ToolOutputContains(NeedleCheck):
    """Passes when a call of the tool has the text in its output; case is ignored.

    Output that is JSON is searched in its own texts too, and as a whole, spaced or not, escaped or not.

    A target that does not report its tool calls, or their output, makes this an error (`evidence_missing`).

    Options:
        value: `Tool:text`, split at the first colon.

    Example:
        {"type": "tool_output_contains", "value": "search:refund"}
        passes: {"output": "OK", "tool_calls": [{"name": "search", "output": "Refunds: 30 days"}]}
        fails: {"output": "OK", "tool_calls": [{"name": "search", "output": "no match"}]}
    """

    what = "output"
