"""Suggestions for misspelt words."""

from __future__ import annotations

import pytest

from runevals.lib.text.suggest import did_you_mean

OPERATORS = (">=", ">", "<=", "<", "==")


@pytest.mark.parametrize(
    ("word", "names", "hint"),
    [
        pytest.param("=>", OPERATORS, "; did you mean '>='?", id="swapped letters before a shorter word"),
        pytest.param("=<", OPERATORS, "; did you mean '<='?", id="swapped letters"),
        pytest.param("regx", ("contains", "regex"), "; did you mean 'regex'?", id="a letter is missing"),
        pytest.param("xyz", OPERATORS, "", id="nothing is near"),
    ],
)
def test_the_nearest_word_is_suggested(word, names, hint):
    assert did_you_mean(word, names) == hint
