"""Comparisons of earlier versions, read in today's words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runevals.records import State
from runevals.reports import results_document as document

OLD = Path(__file__).parent / "documents"


def test_a_comparison_of_an_earlier_version_is_read_in_todays_words():
    """It had a verdict of eight words, hypotheses and suspects."""
    found = document.read_conclusion(OLD / "format-1-suspects.json").comparison
    assert found is not None
    assert found.state is State.WORSE
    assert [(each.family, each.name, each.state) for each in found.findings[:2]] == [
        ("whole", "", State.WORSE),
        ("category", "knowledge", State.WORSE),
    ]
    case = found.finding("evals/evals.json", "KB-001")
    assert case is not None
    assert (case.state, case.title, case.detail) == (State.NOT_WORSE, "case KB-001", "nothing was run again")


@pytest.mark.parametrize(
    ("word", "more", "state", "remarks", "warns"),
    [
        ("regression", {}, State.WORSE, (), True),  # no gate asked for it
        ("small", {}, State.NOT_WORSE, (), True),
        ("improved", {}, State.NOT_WORSE, (), False),
        ("no_change", {}, State.NOT_WORSE, (), False),
        ("no_change", {"inexact_base": "an older commit"}, State.NOT_WORSE, ("an older commit",), True),
        ("not_confirmed", {}, State.NOT_WORSE, (), True),
        ("inconclusive", {"why": "a may be lost"}, State.NOT_KNOWN, (), True),
        ("incomparable", {"why": "all cases were edited"}, State.NOT_KNOWN, (), True),
    ],
)
def test_every_verdict_of_an_earlier_version_has_a_state(word, more, state, remarks, warns):
    old = json.loads((OLD / "format-1-suspects.json").read_text())
    old["comparison"] |= {"verdict": word, "hypotheses": [], "suspects": [], **more}
    old["verdict"] = {"outcome": "passed", "headline": "as it was", "exit_code": 0}
    read = document.parse(json.dumps(old), "x.json")
    assert read.comparison is not None
    assert (read.comparison.state, read.comparison.remarks, read.verdict.warns) == (state, remarks, warns)
    assert read.comparison.improved is (word == "improved")
    assert [each.detail for each in read.comparison.findings] == [more[name] for name in more if name == "why"]
    assert read.verdict.headline == "as it was"
