"""The response contains one of several texts."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject, either
from runevals.evaluators.text.blank import ValuesCheck
from runevals.records import Verdict


@evaluator("contains_any")
class ContainsAny(ValuesCheck):
    """Passes when one of the texts is in the response; case is ignored.

    Options:
        values: what to look for; at least one, none blank.

    Example:
        {"type": "contains_any", "values": ["refund", "30 days"]}
        passes: A refund is possible.
        fails: Please ask support.
    """

    def check(self, subject: Subject) -> Verdict:
        text = subject.response.text.lower()
        match = next((value for value in self.values if value.lower() in text), None)
        none = f"none of these was found: {', '.join(self.values)}"
        return either(f"found: {match}", none, passed=match is not None)
