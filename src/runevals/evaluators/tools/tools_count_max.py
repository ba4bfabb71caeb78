"""At most so many tool calls were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.tools.calls import calls_of
from runevals.records import Layer, Problem, Verdict


@evaluator("tools_count_max")
@dataclass(frozen=True, kw_only=True)
class ToolsCountMax(Check):
    """Passes when at most so many tool calls were made, of any tool.

    A target that does not report its tool calls makes this an error (`evidence_missing`).

    Options:
        value: at most so many.

    Example:
        {"type": "tools_count_max", "value": 3}
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    value: int

    def check(self, subject: Subject) -> Verdict | Problem:
        calls = calls_of(subject)
        if isinstance(calls, Problem):
            return calls
        return Verdict(float(len(calls) <= self.value), f"{len(calls)} calls, at most {self.value} wanted")
