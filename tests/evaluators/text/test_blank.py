"""Which texts say nothing to look for."""

import pytest

from runevals.evaluators.text.blank import is_blank, value_problems, why_always_found
from runevals.evaluators.text.contains_any import ContainsAny


@pytest.mark.parametrize(
    ("text", "blank", "stands_anywhere"),
    [
        pytest.param("", True, True, id="empty"),
        pytest.param("  ", True, True, id="spaces"),
        pytest.param("\u00a0\u3000", True, True, id="spaces of other scripts"),
        pytest.param("\n", False, True, id="a line break can be looked for, but is no expected text"),
        pytest.param("\t", False, True, id="a tab, too"),
        pytest.param(" a", False, False, id="a word with a space"),
        pytest.param("\u200b", False, False, id="a character without width is no space"),
        pytest.param("。", False, False, id="punctuation"),
    ],
)
def test_a_text_of_invisible_characters_is_blank(text, blank, stands_anywhere):
    assert is_blank(text) is blank
    assert (why_always_found(text) is not None) is stands_anywhere


def test_an_empty_value_and_a_blank_value_have_different_reasons():
    assert list(value_problems("", "every response ends with it")) == [
        ("value", "value is empty; every response ends with it")
    ]
    assert list(value_problems(" ", "")) == [
        ("value", "value is blank; write the text, or look for spaces with regex")
    ]
    assert not list(value_problems("x", ""))
    assert len(problems("", " ")) == len(problems("a", " ")) == 1
    assert not problems("a", "\n")


def problems(*values):
    return list(ContainsAny(values=values).problems())
