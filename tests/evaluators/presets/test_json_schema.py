import pytest

from runevals.evaluators.presets.json_schema import PresetJsonSchema
from tests.evaluators.subjects import answering, run

SCHEMA = {"type": "object", "required": ["name", "age"], "properties": {"age": {"type": "number"}}}


@pytest.mark.parametrize(
    ("options", "text", "score"),
    [
        pytest.param({"schema": SCHEMA}, '{"name": "张三", "age": 25}', 1.0, id="the seed's example"),
        pytest.param({"schema": SCHEMA}, '{"name": "张三", "age": "25"}', 0.0, id="wrong type"),
        pytest.param({}, "[]", 1.0, id="without a schema any JSON"),
        pytest.param({}, "Hello", 0.0, id="not JSON"),
    ],
)
def test_preset_json_schema(sandbox, options, text, score):
    assert run(PresetJsonSchema(**options), answering(text), sandbox).score == score
