import pytest

from runevals.evaluators.presets.contains import PresetContains
from tests.evaluators.subjects import answering


@pytest.mark.parametrize(
    ("text", "expected", "score"),
    [
        pytest.param("北京是中国的首都，有着悠久的历史...", "首都", 1.0, id="the seed's example"),
        pytest.param("the capital", "Capital", 0.0, id="case counts"),
        pytest.param("anything", "", 1.0, id="the empty text is everywhere"),
        pytest.param("anything", None, None, id="no expected text"),
    ],
)
def test_preset_contains(text, expected, score):
    assert PresetContains().check(answering(text, expected=expected)).score == score
