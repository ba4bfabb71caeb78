"""How much of the expected text the response has."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.text.edit_distance import SimilarityCheck, similarity, too_long
from runevals.evaluators.text.tokens import answer_tokens
from runevals.records import Problem


@evaluator("PartialMatch")
class PartialMatch(SimilarityCheck):
    """Scores 0–1 how much response and expected text share; passes from 0.5 unless `threshold` says otherwise.

    `f1` is the token F1 of question answering (SQuAD, Rajpurkar et al. 2016): case folded, punctuation
    separates and is dropped like a/an/the, each CJK character is a token; the harmonic mean of precision over the
    response's tokens and recall over the expected ones. Two empty texts score 1, one empty text scores 0.

    Options:
        case_sensitive: tell capitals from small letters.
        algorithm: `f1`; `levenshtein`, 1 − edit distance / longer length; `token_set`, where words that only
            one side has count less.

    Example:
        "expected_response": "Returns within 30 days", "evaluators": {"PartialMatch": {"threshold": 0.7}}
        passes: Returns are possible within 30 days.
        fails: Please ask the support team about returns.
    """

    default_threshold = 0.5

    case_sensitive: bool = False
    algorithm: Literal["f1", "levenshtein", "token_set"] = "f1"

    def score(self, text: str, expected: str) -> float | Problem:
        if self.algorithm == "f1":
            return _f1(
                Counter(answer_tokens(text, case_sensitive=self.case_sensitive)),
                Counter(answer_tokens(expected, case_sensitive=self.case_sensitive)),
            )
        if not self.case_sensitive:
            text, expected = text.casefold(), expected.casefold()
        if self.algorithm == "levenshtein":
            return similarity(text, expected)
        if (problem := too_long(text, expected)) is not None:
            return problem
        from rapidfuzz import fuzz  # loaded when first used

        return fuzz.token_set_ratio(text, expected) / 100


def _f1(response: Counter[str], expected: Counter[str]) -> float:
    if not response or not expected:
        return float(not response and not expected)
    shared = (response & expected).total()
    return 2 * shared / (response.total() + expected.total())
