"""Texts of JSON, and what is in them."""

from __future__ import annotations

import json

import pytest

from runevals.lib.parsing.json_forms import json_forms, json_in

VALUES = [{}, {"a": [1, "ä"]}, [], [{"b": None}], None]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_every_form_of_an_object_a_list_or_null_holds_it(value):
    for text in json_forms(value):
        assert json_in(text) == json_in(f" {text}\n".encode()) == value


@pytest.mark.parametrize(
    "value",
    ["", "42", "none", "true", '"x"', "{a}", "[1", "[" * 100_000, b"\xff", 7, {"a": 1}],
    ids=lambda one: str(one)[:9],
)
def test_anything_else_stays_as_it_is(value):
    assert json_in(value) is value


def test_a_text_is_searched_in_each_spacing_and_escape():
    forms = json_forms({"a": "ä", "b": 1})
    assert len(set(forms)) == 4
    assert {json.loads(form)["a"] for form in forms} == {"ä"}
