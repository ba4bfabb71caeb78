"""The output is close enough to the expected text."""

from __future__ import annotations

import math
from collections import Counter
from typing import Literal

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.text.edit_distance import SimilarityCheck, similarity
from runevals.evaluators.text.tokens import bigram_tokens
from runevals.records import Problem


@evaluator("preset-similarity", "similarity")
class PresetSimilarity(SimilarityCheck):
    """Scores 0–1 how alike output and expected text are; passes from 0.8 unless `threshold` says otherwise.

    Tokens are runs of letters and digits, lower-cased; a run of CJK characters gives its pairs of neighbours.
    Two empty texts score 1.

    Options:
        algorithm: `levenshtein`, 1 − edit distance / longer length, in code points; `cosine` of the token
            counts; `jaccard`, shared tokens / all tokens.

    Example:
        "expected_response": "returns within 30 days",
        "evaluators": {"preset-similarity": {"algorithm": "jaccard", "threshold": 0.6}}
        passes: returns within 30 days
        fails: no returns after purchase
    """

    default_threshold = 0.8

    algorithm: Literal["levenshtein", "cosine", "jaccard"] = "levenshtein"

    def score(self, text: str, expected: str) -> float | Problem:
        match self.algorithm:
            case "levenshtein":
                return similarity(text, expected)
            case "cosine":
                return _cosine(Counter(bigram_tokens(text)), Counter(bigram_tokens(expected)))
            case "jaccard":
                one, other = frozenset(bigram_tokens(text)), frozenset(bigram_tokens(expected))
                return len(one & other) / len(one | other) if one or other else 1.0


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    if not a or not b:
        return float(not a and not b)
    dot = sum(count * b[token] for token, count in a.items())
    lengths = sum(count * count for count in a.values()) * sum(count * count for count in b.values())
    return min(1.0, dot / math.sqrt(lengths))
