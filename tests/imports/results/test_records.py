"""Cases of another tool: each once, with all its attempts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.imports.results.records import (
    ImportedAttempt,
    ImportedCase,
    check_result,
    distinct_keys,
    joined,
    numbered,
)
from runevals.records import Outcome, TurnReport
from runevals.records.errors import InvalidDocument

ATTEMPT = ImportedAttempt(turn=TurnReport(prompt="", expected=None, output="", results=()))
CASE = ImportedCase(suite="s", key="a", name="a", place="x.json: /1", content="asked", attempts=(ATTEMPT,))


def test_the_same_case_again_is_a_further_attempt():
    [case] = joined([CASE, replace(CASE, place="x.json: /2")])
    assert (len(case.attempts), case.place) == (2, "x.json: /1")


def test_two_cases_of_one_name_are_refused():
    with pytest.raises(InvalidDocument, match=r"x.json: /2: the case 'a' of 's' is also at x.json: /1"):
        joined([CASE, replace(CASE, place="x.json: /2", content="another")])


def test_names_that_several_contents_share_are_told_apart_wherever_they_stand():
    names = [("refund", "Refund?", 1), ("refund", "Money back?", 2), ("", "Hi", 3), ("refund", "Refund?", 1)]
    keys = distinct_keys(names)
    assert keys[0] == keys[3] != keys[1]
    assert keys[2].startswith("p-")
    assert sorted(distinct_keys(names[::-1])) == sorted(keys)
    assert distinct_keys(names[:1]) == ["refund"]


def test_checks_of_one_name_are_numbered():
    checks = [check_result("contains", "contains", passed=True) for _ in range(2)]
    assert [check.id for check in numbered(checks)] == ["contains", "contains (2)"]


def test_a_score_outside_of_0_to_1_is_no_share():
    check = check_result("length", "length", passed=False, score=12.0)
    assert (check.score, check.value, check.outcome) == (0.0, 12.0, Outcome.FAILED)
    assert check_result("length", "length", passed=None, score=1.0).score is None
