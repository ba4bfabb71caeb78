"""At least so many tool calls were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.tools.calls import calls_of
from runevals.records import Layer, Problem, Verdict


@evaluator("tools_count_min")
@dataclass(frozen=True, kw_only=True)
class ToolsCountMin(Check):
    """Passes when at least so many tool calls were made, of any tool.

    A target that does not report its tool calls makes this an error (`evidence_missing`).

    Options:
        value: at least so many.

    Example:
        {"type": "tools_count_min", "value": 3}
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    value: int

    def check(self, subject: Subject) -> Verdict | Problem:
        calls = calls_of(subject)
        if isinstance(calls, Problem):
            return calls
        return Verdict(float(len(calls) >= self.value), f"{len(calls)} calls, at least {self.value} wanted")
