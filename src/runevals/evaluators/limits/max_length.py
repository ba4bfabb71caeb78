"""The response is not too long."""

from __future__ import annotations

from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.limits.bound import Bound


@evaluator("max_length")
@dataclass(frozen=True, kw_only=True)
class MaxLength(Bound):
    """Passes when the response has not too many characters (Unicode code points).

    Options:
        value: at most so many.

    Example:
        {"type": "max_length", "value": 20}
        passes: OK.
        fails: The warranty does not cover water damage.
    """

    at_least = False
    unit = "characters"

    value: int

    def measure(self, subject: Subject) -> float | None:
        return len(subject.response.text)
