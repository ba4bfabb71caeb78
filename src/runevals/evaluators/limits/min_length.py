"""The response is long enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Layer, Verdict


@evaluator("min_length")
@dataclass(frozen=True, kw_only=True)
class MinLength(Check):
    """Passes when the response has enough characters (Unicode code points).

    Options:
        value: at least so many.

    Example:
        {"type": "min_length", "value": 20}
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    value: int

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.value < 0:
            yield "value", f"value is {self.value:g}; it must not be negative"

    def check(self, subject: Subject) -> Verdict:
        found = len(subject.response.text)
        return Verdict(float(found >= self.value), f"{found} characters, at least {self.value} wanted")
