from __future__ import annotations

from runevals.lib.nullable import distinct, grouped, known, without_none


def test_groups_keep_the_order_of_keys_and_of_values():
    groups = grouped([("b", 2), ("a", 1), ("b", 0)])
    assert list(groups.items()) == [("b", [2, 0]), ("a", [1])]


def test_names_that_are_alike_are_numbered_from_the_second():
    assert distinct(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]


def test_a_field_of_zero_is_known():
    assert without_none(text="", number=0, other=None) == {"text": "", "number": 0}


def test_a_value_of_zero_is_known():
    assert known([0.0, None, 1.0]) == [0.0, 1.0]
