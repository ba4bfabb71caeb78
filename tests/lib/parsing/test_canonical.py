"""Canonical JSON."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from runevals.lib.parsing.canonical import canonical


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("e\u0301", '"\\u00e9"'),
        ({"b": (1, 2.5, None), "a": {"d": True, "c": "x"}}, '{"a":{"c":"x","d":true},"b":[1,2.5,null]}'),
        ({"e\u0301": ["e\u0301"]}, '{"\\u00e9":["\\u00e9"]}'),
        ({"b": "\\u0065"}, '{"b":"\\\\u0065"}'),
        ({"a": MappingProxyType({"c": "e\u0301"})}, '{"a":{"c":"\\u00e9"}}'),
        (MappingProxyType({"b": 1, "a": MappingProxyType({})}), '{"a":{},"b":1}'),
        ([{"b": 1, "a": 2}], '[{"a":2,"b":1}]'),
    ],
)
def test_keys_are_sorted_and_all_text_is_in_nfc_whatever_the_type_of_the_mapping(value, text):
    assert canonical(value) == text
