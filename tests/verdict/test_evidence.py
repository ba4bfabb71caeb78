"""The units of a case: its outcome, and each check of each turn."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Layer
from runevals.verdict.evidence import OUTCOME, entrant_of, title_of, units_of, values_of
from runevals.verdict.matching import Pair
from runevals.verdict.score import over_attempts
from tests.sample_reports import LETTERS, attempt, case, check, checked, checked_case


def pair(base, head, **fields):
    """Of runs that are letters, or turns of checks."""
    sides = (
        case("a", runs, **fields) if isinstance(runs, str) else checked_case("a", *runs, **fields)
        for runs in (base, head)
    )
    return Pair.of(*sides)


def in_question(base, head, **options):
    found = entrant_of(pair(base, head), **options)
    return None if found is None else [title_of(unit) for unit in found.cuts]


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        pytest.param("ppp", "f", [""], id="a case that dies"),
        pytest.param("ppp", "ppp", None, id="one that passes"),
        pytest.param("fff", "f", None, id="one that always failed"),
        pytest.param("fff", "p", None, id="a gain"),
        pytest.param([["pf"]] * 3, [["ff"]], ["c1"], id="a check of a case that failed before"),
        pytest.param([["ppppf"]] * 3, [["fffff"]], ["c1", "c2", "c3", "c4"], id="four of five checks to none"),
        pytest.param([["p", "p"]] * 3, [["p", "f"]], ["", "c1 in turn 2"], id="turn 2 of 2"),
        pytest.param([["fp", "p"]] * 3, [["fp", "f"]], ["c1 in turn 2"], id="turn 2 of a case that failed before"),
        pytest.param([[(1.0,)]] * 3, [[(0.25,)]], ["", "c1"], id="the score of a grader falls"),
        pytest.param([[(1.0,)]] * 3, [[(0.7,)]], ["c1"], id="and the case still passes"),
        pytest.param([[(1.0,)]] * 3, [[(0.8,)]], None, id="the score falls a little"),
        pytest.param([["pp"]] * 3, [["pe"]], [""], id="a run that could not be measured"),
        pytest.param([["fp"]] * 3, [["fe"]], ["c2"], id="a check that could not be measured"),
        pytest.param([["fp"]] * 3, [["ee"]], ["c2"], id="a run that erred hides no check that passed before"),
        pytest.param([["ff"]] * 3, [["ee"]], None, id="nothing of it passed before"),
        pytest.param("eee", "f", [""], id="no value on the base"),
    ],
)
def test_what_of_a_case_looks_lost(base, head, expected):
    assert in_question(base, head) == expected


def test_one_check_says_no_more_than_the_outcome():
    assert [unit.name for unit in units_of(pair("pp", "f"))] == [OUTCOME]


def test_checks_that_only_one_side_has_are_no_units():
    assert [unit.name for unit in units_of(pair([["pp"]], [["ppp"]]))] == [OUTCOME, "0.0 c1", "0.1 c2"]


def test_a_run_that_was_not_due_is_none_and_one_that_erred_is_missing():
    [outcome] = units_of(pair("psep", "f"))
    assert outcome.base == [1.0, None, 1.0]


def test_the_values_of_a_run():
    assert values_of(checked(1, ["pfs", (0.75,)])) == {OUTCOME: 0.0, "0.0 c1": 1.0, "0.1 c2": 0.0, "1.0 c1": 0.75}
    assert values_of(attempt(1, LETTERS["e"])) == {}
    assert values_of(checked(1, ["fe"])) == {OUTCOME: 0.0, "0.0 c1": 0.0, "0.1 c2": None}


@pytest.mark.parametrize(("layer", "is_certain"), [(Layer.FACT, True), (Layer.JUDGE, False)])
def test_a_deterministic_target_does_not_make_its_judge_so(layer, is_certain):
    made = checked_case("a", ["p"])
    turn = replace(made.attempts[0].turns[0], results=(check(LETTERS["f"], layer=layer),))
    failing = over_attempts(made, [replace(made.attempts[0], status=LETTERS["f"], turns=(turn,))])
    assert entrant_of(Pair.of(made, failing), deterministic=True).deterministic is is_certain


@pytest.mark.parametrize(("category", "critical"), [(None, False), ("redteam", True), ("replay", True)])
def test_a_case_of_a_critical_category_is_critical(category, critical):
    assert entrant_of(pair("ppp", "f", category=category)).critical is critical
