"""The response has not too many words."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.limits.bound import WordsBound


@evaluator("word_count_max")
class WordCountMax(WordsBound):
    """Passes when the response has not too many words, which white space separates; each CJK character is one.

    Options:
        value: at most so many.

    Example:
        {"type": "word_count_max", "value": 8}
        passes: Within 30 days of delivery.
        fails: You can return everything you bought within 30 days of its delivery.
    """
