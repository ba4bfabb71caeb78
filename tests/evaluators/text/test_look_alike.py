"""Texts that look alike and are not the same are told apart in words."""

from __future__ import annotations

import pytest

from runevals.evaluators.text.look_alike import look_alike


@pytest.mark.parametrize(
    ("expected", "text", "hint"),
    [
        ("10 €", "It costs 10\u00a0€.", "U+00A0 NO-BREAK SPACE"),
        ("café", "a cafe\u0301", "U+0301 COMBINING ACUTE ACCENT"),
        ("yes", "y\u200bes", "U+200B ZERO WIDTH SPACE"),
        ("a b", "a  b", "white space"),
        ("file", "\ufb01le", "U+FB01 LATIN SMALL LIGATURE FI"),
    ],
)
def test_the_characters_that_are_not_seen_are_named(expected, text, hint):
    assert hint in look_alike(expected, text)


@pytest.mark.parametrize(("expected", "text"), [("10 €", "11 €"), ("", "x"), ("yes", "no")])
def test_texts_that_look_different_have_no_hint(expected, text):
    assert look_alike(expected, text) == ""


def test_a_whole_text_is_compared_with_the_whole():
    assert look_alike("10 €", "10\u00a0€ or more", whole=True) == ""
    assert "U+00A0" in look_alike("10 €", "10\u00a0€", whole=True)
