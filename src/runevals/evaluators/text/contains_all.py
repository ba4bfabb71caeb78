"""The response contains every one of several texts."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject, unless
from runevals.evaluators.text.blank import ValuesCheck
from runevals.records import Verdict


@evaluator("contains_all")
class ContainsAll(ValuesCheck):
    """Passes when every one of the texts is in the response; case is ignored.

    Options:
        values: what to look for; at least one, none blank.

    Example:
        {"type": "contains_all", "values": ["refund", "30 days"]}
        passes: A refund is possible for 30 days.
        fails: A refund is possible.
    """

    def check(self, subject: Subject) -> Verdict:
        text = subject.response.text.lower()
        missing = [value for value in self.values if value.lower() not in text]
        return unless(missing, "every text was found", "not found", missing=missing)
