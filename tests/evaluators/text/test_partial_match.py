import pytest

from runevals.evaluators.text.partial_match import PartialMatch
from tests.evaluators.subjects import answering


@pytest.mark.parametrize(
    ("options", "text", "expected", "score"),
    [
        pytest.param({}, "The cat sat.", "a CAT sat", 1.0, id="case, punctuation and articles are dropped"),
        pytest.param({}, "cat dog", "cat bird", 0.5, id="half on both sides"),
        pytest.param({}, "cat cat", "cat", 2 / 3, id="multiset overlap"),
        pytest.param(
            {}, "The per-diem is $200.", "The per-diem meal allowance is $200.", 0.8, id="hyphens separate"
        ),
        pytest.param({}, "北京是中国首都", "北京是中国的首都", 14 / 15, id="CJK by character"),
        pytest.param({}, "", "", 1.0, id="both empty"),
        pytest.param({}, "", "cat", 0.0, id="one empty"),
        pytest.param({"case_sensitive": True}, "Cat", "cat", 0.0, id="case counts when asked"),
        pytest.param({"algorithm": "levenshtein"}, "abcd", "abcx", 0.75, id="edit distance"),
        pytest.param({"algorithm": "token_set"}, "dog cat cat", "cat dog", 1.0, id="token sets"),
    ],
)
def test_partial_match(options, text, expected, score):
    assert PartialMatch(**options).check(answering(text, expected=expected)).score == pytest.approx(score)


def test_without_an_expected_text_there_is_nothing_to_judge():
    assert PartialMatch().check(answering("Paris")).score is None
