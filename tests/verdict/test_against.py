"""What a run shows against the same cases measured otherwise."""

from __future__ import annotations

import pytest

from runevals.records import State
from runevals.verdict.against import against_other, against_target
from runevals.verdict.wording import about_against, same_on_both_sides
from tests.sample_reports import report


@pytest.mark.parametrize(
    ("other", "head", "told"),
    [
        pytest.param("fff", "ppp", "pass rate 0.0 % → 100.0 % in 4 cases (95 % interval +", id="gain"),
        pytest.param("ppp", "ffp", "worth −66.7 points, p = ", id="loss"),
        pytest.param("fp", "fp", "worth 0.0 points, p = 0.68; 1.0× the cost.", id="nothing"),
    ],
)
def test_the_gain_is_that_of_this_run(other, head, told):
    sides = (report(dict.fromkeys("abcd", letters)) for letters in (head, other))
    assert told in about_against(against_other(*sides, "without-skill"))


def test_of_a_deterministic_target_every_difference_is_real():
    head, other = (report({"a": letters, "b": "p"}, deterministic=True) for letters in "pf")
    found = against_other(head, other, "without-skill")
    assert about_against(found) == (
        "Against without-skill: pass rate 50.0 % → 100.0 % in 2 cases, worth +50.0 points; 1.0× the cost."
    )


def test_checks_that_come_out_alike_on_both_sides_are_named():
    head, other = report({"a": "pp", "b": "ff", "c": "pp", "d": "pp"}), report({"a": "pp", "b": "ff", "c": "pf"})
    found = against_other(head, other, "without-skill")
    assert (found.cases, found.always_passed, found.always_failed) == (3, ("a: ExactMatch",), ("b: ExactMatch",))
    assert same_on_both_sides(found) == (
        "These checks show no difference on any run: always passed: a: ExactMatch; always failed: b: ExactMatch."
    )


@pytest.mark.parametrize("without", [{"a": "pp", "b": "pf"}, {"a": "pp", "b": "pp"}], ids=["nothing", "worse"])
def test_a_skill_that_does_not_help_may_be_read_by_the_program_itself(without):
    found = against_other(report({"a": "pp", "b": "pf"}), report(without), "without-skill")
    assert same_on_both_sides(found).endswith(
        "Does the program read the skill itself, or no `system`? Then both sides are alike."
    )


def test_what_was_measured_on_one_side_only_is_not_compared():
    assert against_other(report({"a": "p"}), report({"a": "e", "b": "p"}), "without-skill") is None


@pytest.mark.parametrize(
    ("lost", "state"),
    [pytest.param(16, State.WORSE, id="p = 0.006"), pytest.param(15, State.NOT_KNOWN, id="p = 0.0096")],
)
def test_the_whole_and_its_parts_have_alpha_together(lost, state):
    """Else two equal targets would differ in more runs than alpha says: parts have a level of their own."""
    steady = dict.fromkeys([f"k{number}" for number in range(300)], "p")
    won, gone = (dict.fromkeys([f"k{number}" for number in some], "f") for some in (range(4), range(4, 4 + lost)))
    reports = {"mini": report({**steady, **won}), "nano": report({**steady, **gone})}
    assert against_target(reports, "mini", margin=0.03, alpha=0.01)["nano"].state is state
