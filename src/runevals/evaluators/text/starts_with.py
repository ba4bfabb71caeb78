"""The response begins with a given text."""

from __future__ import annotations

from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject, either
from runevals.evaluators.text.blank import value_problems
from runevals.evaluators.text.contains import folded
from runevals.records import Layer, Verdict


@evaluator("starts_with")
class StartsWith(Check):
    """Passes when the response begins with the text; nothing is trimmed.

    Options:
        value: the text.
        case_sensitive: tell capitals from small letters.

    Example:
        {"type": "starts_with", "value": "Dear"}
        passes: Dear Ann, it has shipped.
        fails: Hello Ann, it has shipped.
    """

    layer = Layer.BEHAVIOR
    verb = "begin"
    is_there = staticmethod(str.startswith)

    value: str
    case_sensitive: bool = False

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return value_problems(self.value, f"every response {self.verb}s with the empty text")

    def check(self, subject: Subject) -> Verdict:
        ours = (subject.response.text, self.value)
        text, value = (folded(one, case_sensitive=self.case_sensitive) for one in ours)
        other = f"it does not {self.verb} with: {self.value}"
        return either(f"it {self.verb}s with: {self.value}", other, passed=self.is_there(text, value))
