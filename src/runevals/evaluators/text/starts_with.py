"""The response begins with a given text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Layer, Verdict


@evaluator("starts_with")
@dataclass(frozen=True, kw_only=True)
class StartsWith(Check):
    """Passes when the response begins with the text; capitals and small letters are alike, nothing is trimmed.

    Options:
        value: the text.

    Example:
        {"type": "starts_with", "value": "Dear"}
        passes: Dear Ann, it has shipped.
        fails: Hello Ann, it has shipped.
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    value: str

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not self.value:
            yield "value", "value is empty; every response begins with the empty text"

    def check(self, subject: Subject) -> Verdict:
        if subject.response.text.lower().startswith(self.value.lower()):
            return Verdict(1.0, f"it begins with: {self.value}")
        return Verdict(0.0, f"it does not begin with: {self.value}")
