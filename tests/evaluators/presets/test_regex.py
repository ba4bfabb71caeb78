import pytest

from runevals.evaluators.presets.regex import PresetRegex
from tests.evaluators.subjects import answering, run


@pytest.mark.parametrize(
    ("options", "text", "expected", "score"),
    [
        pytest.param(
            {"pattern": r"\d{4}-\d{2}-\d{2}"}, "会议时间是 2024-01-15", None, 1.0, id="the seed's example"
        ),
        pytest.param({"pattern": "paris"}, "PARIS", None, 0.0, id="no default flags"),
        pytest.param({"pattern": "paris", "flags": "i"}, "PARIS", None, 1.0, id="given flags"),
        pytest.param({"pattern": "never"}, "Lima", "^L", 1.0, id="an expected text replaces the pattern"),
        pytest.param({}, "Lima", None, None, id="nothing to look for"),
    ],
)
def test_preset_regex(sandbox, options, text, expected, score):
    assert run(PresetRegex(**options), answering(text, expected=expected), sandbox).score == score
