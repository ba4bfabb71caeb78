"""`{{name}}` and what stands in for it."""

from __future__ import annotations

import pytest

from runevals.lib.text.variables import fill_variables, other_markup


@pytest.mark.parametrize(
    ("text", "made", "missing"),
    [
        ("{{a}} {{ a }} {{a.b}}", "1 1 2", ()),
        ("{{a}} {{x}} {{ y }} {{x}}", "1 {{x}} {{ y }} {{x}}", ("x", "y")),
        ("{{loop}}", "{{a}}", ()),
        ('{"city": {{{a}}}}', '{"city": {1}}', ()),
    ],
)
def test_each_variable_is_filled_in_once(text, made, missing):
    assert fill_variables(text, {"a": "1", "a.b": "2", "loop": "{{a}}"}) == (made, missing)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{{a}} and { { b } } and {c}", None),
        ("{{a}} {{ b | upper }}", (6, "a filter or an expression")),
        ("{% if a %}{{ b | upper }}", (0, "a tag")),
        ("{{ a", (0, "a filter or an expression")),
        ("# Title {#anchor}", (8, "a comment")),
    ],
)
def test_template_markup_other_than_variables_is_located(text, found):
    assert other_markup(text, comments=True) == found


def test_a_heading_with_an_anchor_is_not_a_comment():
    assert other_markup("# Title {#anchor}", comments=False) is None
