"""What changed in an answer is marked in words."""

from __future__ import annotations

import pytest

from runevals.reports.answer_diff import MOST_SHOWN, answer_diff


def shown(base, head):
    made = answer_diff("k", base, head)
    return made.split("\n")[2:-1]


@pytest.mark.parametrize(
    ("base", "head", "lines"),
    [
        pytest.param(
            "You have 30 days.",
            "You have 14 days.",
            ["- You have [-30-] days.", "+ You have {+14+} days."],
            id="one",
        ),
        pytest.param("Within 30 days.", "Ask support.", ["- Within 30 days.", "+ Ask support."], id="all"),
        pytest.param("a b", "a b c", ["- a b", "+ a b {+c+}"], id="added"),
        pytest.param("one\ntwo", "one\n2", ["- one", "- [-two-]", "+ one", "+ {+2+}"], id="lines"),
        pytest.param("gone", " ", ["- gone"], id="nothing left"),
        pytest.param("same", "same", [], id="nothing changed"),
    ],
)
def test_words(base, head, lines):
    assert shown(base, head) == lines


def test_long_stretches_that_are_shared_are_cut():
    many = " ".join(f"w{n}" for n in range(2000))
    before, after = shown(f"{many} yes {many}", f"{many} no {many}")
    assert "[-yes-]" in before
    assert "{+no+}" in after
    assert "w1000" not in before


def test_a_megabyte_on_one_line_is_cut():
    before, after = shown("a " * 500_000, "b" * 1_000_000)
    assert len(before) < MOST_SHOWN + 10
    assert len(after) < MOST_SHOWN + 10
