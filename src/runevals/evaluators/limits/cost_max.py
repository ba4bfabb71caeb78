"""The answer did not cost too much."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Layer, Problem, Verdict


@evaluator("cost_max")
@dataclass(frozen=True, kw_only=True)
class CostMax(Check):
    """Passes when the target's calls for this answer cost at most so many US dollars.

    A target that does not report it makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at most so much.

    Example:
        {"type": "cost_max", "value": 0.01}
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    value: float

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.value < 0:
            yield "value", f"value is {self.value:g}; it must not be negative"

    def check(self, subject: Subject) -> Verdict | Problem:
        found = subject.response.cost_usd
        if found is None:
            return Problem(code="evidence_missing", message="the target does not report what the answer cost")
        return Verdict(float(found <= self.value), f"{found:.6g} USD, at most {self.value} wanted")
