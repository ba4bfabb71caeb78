"""The output is the expected text, to the letter."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Comparison, either
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
        what = "the expected text"
        return either(f"output equals {what}", f"output differs from {what}", passed=text == expected)
