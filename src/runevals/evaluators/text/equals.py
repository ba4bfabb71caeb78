"""The response is a given text."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.text.look_alike import look_alike
from runevals.evaluators.text.numbers import number_text
from runevals.records import Verdict


@evaluator("equals")
class Equals(Check):
    """Passes when response and value, both without the white space around them, are the same; capitals count.

    Options:
        value: the text, or a number, which compares by its text.

    Example:
        {"type": "equals", "value": "42"}
        passes: 42
        fails: 42.0
    """

    value: str | float

    def check(self, subject: Subject) -> Verdict:
        value = self.value if isinstance(self.value, str) else number_text(self.value)
        expected, text = value.strip(), subject.response.text.strip()
        if text == expected:
            return Verdict(1.0, "it is the same")
        return Verdict(0.0, f"it is not: {expected}{look_alike(expected, text, whole=True)}")
