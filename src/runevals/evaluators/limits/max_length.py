"""The response is not too long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Layer, Verdict


@evaluator("max_length")
@dataclass(frozen=True, kw_only=True)
class MaxLength(Check):
    """Passes when the response has not too many characters (Unicode code points).

    Options:
        value: at most so many.

    Example:
        {"type": "max_length", "value": 400}
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    value: int

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.value < 0:
            yield "value", f"value is {self.value:g}; it must not be negative"

    def check(self, subject: Subject) -> Verdict:
        found = len(subject.response.text)
        return Verdict(float(found <= self.value), f"{found} characters, at most {self.value} wanted")
