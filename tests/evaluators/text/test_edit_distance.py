"""Texts that nobody can wait for are an error of the check, at once."""

from __future__ import annotations

import pytest

from runevals.evaluators.presets.similarity import PresetSimilarity
from runevals.evaluators.text.levenshtein_max import LevenshteinMax
from runevals.evaluators.text.partial_match import PartialMatch
from runevals.records import Problem
from tests.evaluators.subjects import answering

LONG, OTHER = "ab" * 2_000_000, "ba " * 1_000_000  # rapidfuzz needs 20 minutes


@pytest.mark.parametrize(
    "check",
    [
        PartialMatch(algorithm="levenshtein"),
        PartialMatch(algorithm="token_set"),
        PresetSimilarity(),
        LevenshteinMax(reference=OTHER, value=1_000_000),
    ],
)
def test_texts_that_are_too_long_are_an_error_not_a_wait(check):
    problem = check.check(answering(LONG, expected=OTHER))
    assert isinstance(problem, Problem)
    assert problem.message == "texts of 4,000,000 and 3,000,000 characters are too long to compare"


@pytest.mark.parametrize(
    ("check", "text", "score"),
    [
        pytest.param(PresetSimilarity(), OTHER, 1.0, id="equal"),
        pytest.param(PresetSimilarity(), "a b", 1e-6, id="a short answer"),
        pytest.param(LevenshteinMax(reference=OTHER, value=2), LONG, 0.0, id="few edits"),
        pytest.param(LevenshteinMax(reference=OTHER, value=2), f"{OTHER}!", 1.0, id="nearly equal"),
    ],
)
def test_long_texts_that_are_quick_to_compare_are_compared(check, text, score):
    assert check.check(answering(text, expected=OTHER)).score == pytest.approx(score, abs=1e-6)
