"""The response has enough words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Layer, Verdict


@evaluator("word_count_min")
@dataclass(frozen=True, kw_only=True)
class WordCountMin(Check):
    """Passes when the response has enough words, which white space separates.

    Options:
        value: at least so many.

    Example:
        {"type": "word_count_min", "value": 5}
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    value: int

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.value < 0:
            yield "value", f"value is {self.value:g}; it must not be negative"

    def check(self, subject: Subject) -> Verdict:
        found = len(subject.response.text.split())
        return Verdict(float(found >= self.value), f"{found} words, at least {self.value} wanted")
