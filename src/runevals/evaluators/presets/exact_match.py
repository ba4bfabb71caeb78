"""The output is the expected text, to the letter."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Comparison
from runevals.records import Verdict


@evaluator("preset-exact-match", "exact_match")
class PresetExactMatch(Comparison):
    """Passes when output and expected text are equal; nothing is trimmed, case counts.

    Example:
        {"evaluators": ["preset-exact-match"], "rows": [{"input": "Capital of France?", "expected": "Paris"}]}
        passes: Paris
        fails: paris
    """

    def compare(self, text: str, expected: str) -> Verdict:
        if text == expected:
            return Verdict(1.0, "output equals the expected text")
        return Verdict(0.0, "output differs from the expected text")
