"""Edit distances, of texts that can be compared in seconds."""

from __future__ import annotations

from abc import abstractmethod

from runevals.evaluators.kinds import Comparison
from runevals.records import Problem, Verdict

MOST_STEPS = 40_000_000_000  # two texts of 200,000 characters; nothing can interrupt a comparison


class SimilarityCheck(Comparison):
    """Scores how alike response and expected text are."""

    algorithm: str

    def compare(self, text: str, expected: str) -> Verdict | Problem:
        score = self.score(text, expected)
        if isinstance(score, Problem):
            return score
        return Verdict(score, f"{self.algorithm} similarity {score:.2f}")

    @abstractmethod
    def score(self, text: str, expected: str) -> float | Problem:
        """The similarity, 0–1."""


def similarity(text: str, expected: str) -> float | Problem:
    """1 − edit distance / longer length, in code points."""
    from rapidfuzz.distance import Levenshtein  # loaded when first used

    if (problem := too_long(text, expected)) is not None:
        return problem
    return Levenshtein.normalized_similarity(text, expected)


def too_long(text: str, expected: str, most_edits: int | None = None) -> Problem | None:
    """Why a comparison, of which only `most_edits` count, would take minutes; None if it does not."""
    shorter, longer = sorted((len(text), len(expected)))
    edits = shorter if most_edits is None else min(shorter, most_edits)
    if longer * edits <= MOST_STEPS or text == expected:
        return None
    message = f"texts of {len(text):,} and {len(expected):,} characters are too long to compare"
    return Problem(code="evaluator_timeout", message=message)
