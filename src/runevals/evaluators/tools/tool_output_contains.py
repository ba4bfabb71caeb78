"""A tool's output contained a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.tools.calls import output_texts, search_calls, value_problems
from runevals.records import Problem, Verdict


@evaluator("tool_output_contains")
@dataclass(frozen=True, kw_only=True)
class ToolOutputContains(Check):
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

    value: str

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return value_problems(self.value)

    def check(self, subject: Subject) -> Verdict | Problem:
        return search_calls(subject, self.value, "output", output_texts)
