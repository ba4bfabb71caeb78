"""TOML: the values, and where they are."""

from __future__ import annotations

import pytest

from runevals.lib.parsing.toml import read_toml
from runevals.records.errors import InvalidSuite

TEXT = 'a = 1\n[tool.x]\n"b" = {c = 2}\n[[tool.x.list]]\nd = 3\n[[tool.x.list]]\n  d = 4\n'


def test_a_key_has_its_line():
    source = read_toml(TEXT, "x.toml")
    lines = {
        path: source.locate(path, key=True).line
        for path in [
            ("a",),
            ("tool", "x", "b"),
            ("tool", "x", "b", "c"),
            ("tool", "x", "list", 0, "d"),
            ("tool", "x", "list", 1, "d"),
        ]
    }
    assert list(lines.values()) == [1, 3, 3, 5, 7]
    assert source.locate(("tool", "x", "list", 1, "d")).column == 7


def test_a_mistake_has_its_place():
    with pytest.raises(InvalidSuite) as raised:
        read_toml("a = 1\nb = \n", "x.toml")
    assert str(raised.value.problems[0]).startswith("x.toml:2:5: is not TOML: Invalid value")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{'.'.join(['a'] * 60_000)} = 1\n", "x.toml:1:1: is not TOML: more than 1000 dots on a line"),
        (f"x = {'[' * 20_000}", "x.toml:1:1: is not TOML: nested deeper than 100 levels"),
        (f"{'.'.join(['a'] * 900)} = 1\n", "x.toml:1:1: is not TOML: nested deeper than 100 levels"),
    ],
    ids=["a long key", "many brackets", "a deep key"],
)
def test_what_would_take_too_long_is_a_mistake(text, told):
    with pytest.raises(InvalidSuite) as raised:
        read_toml(text, "x.toml")
    assert str(raised.value.problems[0]) == told
