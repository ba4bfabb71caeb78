"""All or any of several checks; errors are a third value."""

from __future__ import annotations

import pytest

from runevals.evaluators import catalogue
from runevals.evaluators.combined.assert_set import AssertSet
from runevals.evaluators.kinds import Part
from runevals.records import EvaluatorSpec, Layer, Outcome, Problem
from runevals.records.errors import InvalidOptions

OUTCOMES = {"p": Outcome.PASSED, "f": Outcome.FAILED, "s": Outcome.SKIPPED, "e": Outcome.ERRORED}


def parts(letters):
    reason = {"e": "judge_timeout: late"}
    return [
        Part(id=f"c{n}", outcome=OUTCOMES[letter], score=None, reason=reason.get(letter, ""))
        for n, letter in enumerate(letters)
    ]


@pytest.mark.parametrize(
    ("mode", "letters", "found"),
    [
        ("all", "pp", True),
        ("all", "pf", False),
        ("all", "ps", True),
        ("all", "fe", False),  # a failed part settles it
        ("all", "pe", "judge_timeout"),
        ("all", "ss", None),
        ("any", "pf", True),
        ("any", "ff", False),
        ("any", "pe", True),  # a passed part settles it
        ("any", "fe", "judge_timeout"),
        ("any", "fs", False),
        ("any", "ss", None),
    ],
)
def test_modes(mode, letters, found):
    verdict = AssertSet(mode=mode).combine(parts(letters))
    if isinstance(found, str):
        assert isinstance(verdict, Problem)
        assert verdict.code == found
    else:
        assert verdict.score == (None if found is None else float(found))


def test_an_assert_set_is_built_with_its_members_and_has_their_layer():
    def built(*names):
        children = tuple(EvaluatorSpec(name=name, options={"value": "x"}) for name in names)
        return catalogue.build(EvaluatorSpec(name="assert-set", children=children)).evaluator

    assert catalogue.layer_of(built("contains", "equals")) is Layer.FACT
    assert catalogue.layer_of(built("starts_with", "ends_with")) is Layer.BEHAVIOR
    assert catalogue.layer_of(built("contains", "starts_with")) is Layer.BEHAVIOR


def test_an_empty_set_and_an_invalid_member_are_reported():
    with pytest.raises(InvalidOptions, match="children is empty"):
        catalogue.build(EvaluatorSpec(name="assert-set"))
    bad = EvaluatorSpec(name="assert-set", children=(EvaluatorSpec(name="contains", options={"value": ""}),))
    with pytest.raises(InvalidOptions, match="value is empty"):
        catalogue.build(bad)


def test_the_details_have_a_line_for_every_member():
    verdict = AssertSet(mode="any").combine(parts("fp"))
    assert [line["outcome"] for line in verdict.details["parts"]] == ["failed", "passed"]
