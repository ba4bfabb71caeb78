"""The response is a given text."""

from __future__ import annotations

from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Verdict


@evaluator("equals")
@dataclass(frozen=True, kw_only=True)
class Equals(Check):
    """Passes when response and value, both without the white space around them, are the same; capitals count.

    Options:
        value: the text, or a number, which compares by its text.

    Example:
        {"type": "equals", "value": "42"}
    """

    value: str | float

    def check(self, subject: Subject) -> Verdict:
        wanted, text = _text(self.value).strip(), subject.response.text.strip()
        if text == wanted:
            return Verdict(1.0, "it is the same")
        return Verdict(0.0, f"it is not: {wanted}")


def _text(value: str | float) -> str:
    """A number as JavaScript writes it: 42.0 is 42."""
    if isinstance(value, str):
        return value
    return str(int(value)) if float(value).is_integer() else str(value)
