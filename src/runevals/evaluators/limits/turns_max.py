"""The target took not too many turns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Layer, Problem, Verdict


@evaluator("turns_max")
@dataclass(frozen=True, kw_only=True)
class TurnsMax(Check):
    """Passes when the target took at most so many turns to answer.

    A target that does not report it makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at most so much.

    Example:
        {"type": "turns_max", "value": 5}
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    value: int

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.value < 0:
            yield "value", f"value is {self.value:g}; it must not be negative"

    def check(self, subject: Subject) -> Verdict | Problem:
        found = subject.response.turns
        if found is None:
            return Problem(code="evidence_missing", message="the target does not report its turns")
        return Verdict(float(found <= self.value), f"{found} turns, at most {self.value} wanted")
