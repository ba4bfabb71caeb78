"""The output is the expected text, to the letter."""

from __future__ import annotations

from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Verdict


@evaluator("preset-exact-match", "exact_match")
@dataclass(frozen=True, kw_only=True)
class PresetExactMatch(Check):
    """Passes when output and expected text are equal; nothing is trimmed, case counts.

    Example:
        {"evaluators": ["preset-exact-match"], "rows": [{"input": "Capital of France?", "expected": "Paris"}]}
        passes: Paris
        fails: paris
    """

    needs_expected = True

    def check(self, subject: Subject) -> Verdict:
        if subject.expected is None:
            return Verdict.skipped("no expected text")
        if subject.response.text == subject.expected:
            return Verdict(1.0, "output equals the expected text")
        return Verdict(0.0, "output differs from the expected text")
