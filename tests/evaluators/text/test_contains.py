import pytest

from runevals.evaluators.text.contains import Contains
from tests.evaluators.subjects import answering


@pytest.mark.parametrize(
    ("options", "text", "expected", "score"),
    [
        pytest.param({"value": "30 Days"}, "within 30 days", None, 1.0, id="case ignored"),
        pytest.param({"value": "30 days "}, "within 30 days", None, 0.0, id="nothing is trimmed"),
        pytest.param({"value": "x"}, "y", "y", 0.0, id="the value goes before the expected text"),
        pytest.param({}, "It is Paris", "paris", 1.0, id="without a value the expected text"),
        pytest.param({"value": "首都"}, "中国的首都", None, 1.0, id="CJK"),
        pytest.param({}, "anything", None, None, id="nothing to look for"),
    ],
)
def test_contains(options, text, expected, score):
    assert Contains(**options).check(answering(text, expected=expected)).score == score
