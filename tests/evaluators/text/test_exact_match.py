import pytest

from runevals.evaluators.text.exact_match import ExactMatch
from runevals.records import Verdict
from tests.evaluators.subjects import answering


@pytest.mark.parametrize(
    ("options", "text", "expected", "score"),
    [
        pytest.param({}, "It is PARIS.", "paris", 1.0, id="contained, case ignored"),
        pytest.param({}, "It is Lyon.", "Paris", 0.0, id="absent"),
        pytest.param({"case_sensitive": True}, "It is paris.", "Paris", 0.0, id="case counts when asked"),
        pytest.param({"mode": "equals"}, "  Paris\n", "paris ", 1.0, id="equals compares trimmed texts"),
        pytest.param({"mode": "equals"}, "Paris.", "Paris", 0.0, id="equals takes no more than the text"),
        pytest.param({}, "Die Straße ist lang", "STRASSE", 1.0, id="case folding beyond ASCII"),
        pytest.param({}, "北京是中国的首都", "首都", 1.0, id="CJK"),
        pytest.param({}, "", "", 1.0, id="nothing expected, nothing said"),
    ],
)
def test_exact_match(options, text, expected, score):
    assert ExactMatch(**options).check(answering(text, expected=expected)).score == score


def test_the_reason_contains_the_missing_text():
    assert ExactMatch().check(answering("Lyon", expected="Paris")).reason == "not found: Paris"


def test_without_an_expected_text_there_is_nothing_to_judge():
    assert ExactMatch().check(answering("Paris")) == Verdict.skipped("no expected text")
