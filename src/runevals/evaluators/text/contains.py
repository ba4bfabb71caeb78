"""The response contains a given text."""

from __future__ import annotations

from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.text.blank import value_problems, why_always_found
from runevals.evaluators.text.look_alike import look_alike
from runevals.records import Verdict


@evaluator("contains")
class Contains(Check):
    """Passes when the text is in the response; nothing is trimmed.

    Options:
        value: what to look for; without it, the case's expected text.
        case_sensitive: tell capitals from small letters.

    Example:
        "evaluators": {"contains": {"value": "30 days"}}
        passes: Refunds take 30 Days.
        fails: Refunds take a month.
    """

    value: str | None = None
    case_sensitive: bool = False

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return () if self.value is None else value_problems(self.value, "the empty text is in every response")

    def idle_without_expected(self) -> bool:
        return self.value is None

    def never_fails(self, expected: str | None) -> str | None:
        return None if self.value is not None or expected is None else why_always_found(expected)

    def check(self, subject: Subject) -> Verdict:
        expected = subject.expected if self.value is None else self.value
        if expected is None:
            return Verdict.skipped("no text to look for")
        text = folded(subject.response.text, case_sensitive=self.case_sensitive)
        looked_for = folded(expected, case_sensitive=self.case_sensitive)
        if looked_for in text:
            return Verdict(1.0, f"found: {expected}")
        return Verdict(0.0, f"not found: {expected}{look_alike(looked_for, text)}")


def folded(text: str, *, case_sensitive: bool) -> str:
    """`text`, in lower case if case is ignored."""
    return text if case_sensitive else text.lower()
