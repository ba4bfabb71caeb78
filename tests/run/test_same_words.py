"""Repeats that say the same words: a note, no evidence."""

from __future__ import annotations

import pytest

from runevals.records import Outcome
from runevals.run.measurement import SAME_WORDS, RepeatedAnswers
from tests.sample_reports import attempt


def seen(*cases):
    """Cases with the words of each of their runs; None where no answer came."""
    words = RepeatedAnswers()
    for number, outputs in enumerate(cases):
        for output in outputs:
            outcome = Outcome.ERRORED if output is None else Outcome.PASSED
            words.see(number, attempt(1, outcome, output=output))
    return words.notices


@pytest.mark.parametrize(
    ("cases", "notices"),
    [
        pytest.param([("a", "a")] * 5, (SAME_WORDS,), id="all alike"),
        pytest.param([("a", "a", "a"), ("b", "b"), ("a",)] * 3, (SAME_WORDS,), id="as far as they were repeated"),
        pytest.param([("a", None, "a")] * 5, (), id="an error is another answer"),
        pytest.param([("a", "a")] * 9 + [("a", "b")], (), id="one differs"),
        pytest.param([("a", "a")] * 4, (), id="too few"),
        pytest.param([("a", "a")] * 6 + [("b",)] * 24, (), id="most were answered once"),
        pytest.param([("a",)] * 9, (), id="nothing was repeated"),
    ],
)
def test_when_it_is_told(cases, notices):
    assert seen(*cases) == notices
