"""The answer came soon enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Layer, Problem, Verdict


@evaluator("latency_max")
@dataclass(frozen=True, kw_only=True)
class LatencyMax(Check):
    """Passes when the answer took at most so many milliseconds.

    A target that does not report it makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at most so many milliseconds.

    Example:
        {"type": "latency_max", "value": 3000}
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    value: float

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.value < 0:
            yield "value", f"value is {self.value:g}; it must not be negative"

    def check(self, subject: Subject) -> Verdict | Problem:
        found_s = subject.response.latency_s
        if found_s is None:
            return Problem(code="evidence_missing", message="how long the answer took is not known")
        passed = round(found_s * 1000, 6) <= self.value
        return Verdict(float(passed), f"{found_s * 1000:.0f} ms, at most {self.value:g} wanted")
