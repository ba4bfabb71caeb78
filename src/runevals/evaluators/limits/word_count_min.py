"""The response has enough words."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.limits.bound import WordsBound


@evaluator("word_count_min")
class WordCountMin(WordsBound):
    """Passes when the response has enough words, which white space separates; each CJK character is one.

    Options:
        value: at least so many.

    Example:
        {"type": "word_count_min", "value": 5}
        passes: Within 30 days of delivery.
        fails: Yes.
    """
