"""What a value of unknown shape holds."""

from __future__ import annotations

import pytest

from runevals.lib.parsing.shapes import entries_of, list_in, object_in, objects_in, text_in, texts_in

VALUES = [None, True, 0, "", "text", [], [1, {"a": 1}, "b"], {}, {"a": [1]}]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_value_of_another_shape_holds_nothing(value):
    for shape, read in ((dict, object_in), (list, list_in), (str, text_in)):
        assert read(value) == (value if isinstance(value, shape) else shape())
    assert objects_in(value) == [one for one in list_in(value) if isinstance(one, dict)]
    assert texts_in(value) == [one for one in list_in(value) if isinstance(one, str)]
    assert entries_of(value) == (list_in(value) if isinstance(value, list) else [value])
