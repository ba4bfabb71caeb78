import pytest

from runevals.evaluators.presets.exact_match import PresetExactMatch
from tests.evaluators.subjects import answering


@pytest.mark.parametrize(
    ("text", "expected", "score"),
    [
        pytest.param("中国", "中国", 1.0, id="the seed's example"),
        pytest.param("Paris ", "Paris", 0.0, id="nothing is trimmed"),
        pytest.param("paris", "Paris", 0.0, id="case counts"),
        pytest.param("", "", 1.0, id="both empty"),
        pytest.param("Paris", None, None, id="no expected text"),
    ],
)
def test_preset_exact_match(text, expected, score):
    assert PresetExactMatch().check(answering(text, expected=expected)).score == score
