"""The response contains one of several texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.text.blank import values_problems
from runevals.records import Verdict


@evaluator("contains_any")
@dataclass(frozen=True, kw_only=True)
class ContainsAny(Check):
    """Passes when one of the texts is in the response; case is ignored.

    Options:
        values: what to look for; at least one, none blank.

    Example:
        {"type": "contains_any", "values": ["refund", "30 days"]}
        passes: A refund is possible.
        fails: Please ask support.
    """

    values: tuple[str, ...]

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return values_problems(self.values)

    def check(self, subject: Subject) -> Verdict:
        text = subject.response.text.lower()
        match = next((value for value in self.values if value.lower() in text), None)
        if match is not None:
            return Verdict(1.0, f"found: {match}")
        return Verdict(0.0, f"none of these was found: {', '.join(self.values)}")
