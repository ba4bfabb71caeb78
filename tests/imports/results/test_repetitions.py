"""The runs of a test that pytest-repeat made, by their names."""

from __future__ import annotations

import pytest

from runevals.imports.results.repetitions import whole_repeats, without_count


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(["t[1-2]", "t[2-2]", "t[1-2]"], {("", "t")}, id="whole"),
        pytest.param(["t[a-1-2]", "t[a-2-2]", "t[b]"], {("", "t[a]")}, id="parameter"),
        pytest.param(["t[1-3]", "t[3-3]"], set(), id="one is missing"),
        pytest.param(["t[1-2]", "t[2-3]"], set(), id="a parameter that looks so"),
        pytest.param(["t", "t[9-9999999]"], set(), id="not a count"),
    ],
)
def test_all_runs_of_a_test_are_one_test(names, expected):
    assert whole_repeats([("", name) for name in names]) == expected
    assert {without_count(name) for _, name in expected} == {name for _, name in expected}
