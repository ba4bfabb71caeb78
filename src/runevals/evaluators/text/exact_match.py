"""The response contains the expected text exactly."""

from __future__ import annotations

from typing import Literal

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Comparison
from runevals.evaluators.text.blank import why_always_found
from runevals.evaluators.text.look_alike import look_alike
from runevals.records import Verdict


@evaluator("ExactMatch")
class ExactMatch(Comparison):
    """Passes when the expected text is in the response as it is written.

    Options:
        case_sensitive: tell capitals from small letters.
        mode: `contains` looks for the text anywhere; `equals` compares the whole texts, trimmed.

    Example:
        "expected_response": "30 days", "evaluators": {"ExactMatch": {"mode": "equals"}}
        passes: 30 Days
        fails: Within 30 days.
    """

    case_sensitive: bool = False
    mode: Literal["contains", "equals"] = "contains"

    def never_fails(self, expected: str | None) -> str | None:
        return None if self.mode == "equals" or expected is None else why_always_found(expected)

    def compare(self, text: str, expected: str) -> Verdict:
        looked_for, text = self._fold(expected), self._fold(text)
        if self.mode == "equals":
            if text.strip() == looked_for.strip():
                return Verdict(1.0, "the response is the expected text")
            return Verdict(0.0, f"the response is not the expected text{look_alike(looked_for, text, whole=True)}")
        if looked_for in text:
            return Verdict(1.0, "the expected text was found")
        return Verdict(0.0, f"not found: {expected}{look_alike(looked_for, text)}")

    def _fold(self, text: str) -> str:
        return text if self.case_sensitive else text.casefold()
