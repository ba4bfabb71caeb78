"""A tool's input contained a text."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import NeedleCheck


@evaluator("tool_input_contains")
class ToolInputContains(NeedleCheck):
    """Passes when a call of the tool has the text in its input; case is ignored.

    The input is searched in its own texts and as a whole, as JSON: spaced (`"force": true`) and not
    (`"force":true`), and with characters beyond ASCII as they are and escaped.

    A target that does not report its tool calls, or their input, makes this an error (`evidence_missing`).

    Options:
        value: `Tool:text`, split at the first colon.

    Example:
        {"type": "tool_input_contains", "value": "search:refund"}
        passes: {"output": "OK", "tool_calls": [{"name": "search", "input": {"q": "Refund policy"}}]}
        fails: {"output": "OK", "tool_calls": [{"name": "search", "input": {"q": "warranty"}}]}
    """

    what = "input"
