"""The last screen: what stands on it for a reader with one glance."""

from __future__ import annotations

from runevals.records import Outcome
from runevals.reporters import console
from tests.reporters.conclusions import conclusion
from tests.reports import attempt, case, report

LONG = "Every device that we sell in any of our shops, " * 10


def shown(before, after):
    head = case("a", "f", attempts=(attempt(1, Outcome.FAILED, output=after),))
    base = case("a", "p", attempts=(attempt(1, Outcome.PASSED, output=before),))
    made = conclusion(report([head], deterministic=True), report([base], deterministic=True))
    lines = console.render(made).splitlines()
    return [line.strip() for line in lines if line.startswith(("      −", "      +"))]


def test_long_answers_are_shown_from_where_they_differ():
    assert shown(f"{LONG}has 24 months of warranty.", f"{LONG}has 12 months of warranty.") == [
        "− …device that we sell in any of our shops, has 24 months of warranty.",
        "+ …device that we sell in any of our shops, has 12 months of warranty.",
    ]


def test_short_answers_are_shown_whole():
    assert shown("It has 24 months.", "It has 12 months.") == ["− It has 24 months.", "+ It has 12 months."]


def test_an_answer_without_spaces_is_cut_all_the_same():
    base, head = shown("x" * 500 + "a", "x" * 500 + "b")
    assert (base, head) == (f"− …{'x' * 40}a", f"+ …{'x' * 40}b")
