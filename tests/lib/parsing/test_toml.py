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
