"""The output includes the expected text."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Comparison, either
from runevals.evaluators.text.blank import why_always_found
from runevals.lib.nullable import if_known
from runevals.records import Verdict


@evaluator("preset-contains")
class PresetContains(Comparison):
    """Passes when the expected text is in the output; case-sensitive.

    Example:
        {"evaluators": ["preset-contains"], "rows": [{"input": "About Beijing?", "expected": "capital"}]}
        passes: Beijing is the capital of China.
        fails: Beijing is a Capital.
    """

    def never_fails(self, expected: str | None) -> str | None:
        return if_known(why_always_found, expected)

    def compare(self, text: str, expected: str) -> Verdict:
        return either(f"found: {expected}", f"not found: {expected}", passed=expected in text)
