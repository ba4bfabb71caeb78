"""The skill's absence, the base and this run, of the cases that all three measured."""

from __future__ import annotations

import pytest

from runevals.records import GateRules
from runevals.verdict.against import against_other
from runevals.verdict.arms import with_arms
from runevals.verdict.compare import compare
from runevals.verdict.outcome import conclusion_of
from tests.sample_reports import report


def arms(without, base, head):
    against = against_other(report(head), report(without), "without-skill")
    found = with_arms(against, report(head), compare(report(head), report(base), "base"))
    return [(arm.name, arm.cases, arm.pass_rate) for arm in found.arms]


def test_each_case_counts_the_same_however_often_it_was_run():
    without = {"a": "ff", "b": "pf"}
    assert arms(without, {"a": "pp", "b": "pf"}, {"a": "pp", "b": "pppp"}) == [
        ("without-skill", 2, 0.25),
        ("base", 2, 0.75),
        ("now", 2, 1.0),
    ]


def test_cases_that_one_of_them_did_not_measure_are_left_out():
    head = {"a": "p", "b": "p", "c": "p"}
    assert arms({"a": "f", "b": "e"}, {"a": "p", "b": "p"}, head) == [
        ("without-skill", 1, 0.0),
        ("base", 1, pytest.approx(1.0)),
        ("now", 1, 1.0),
    ]


def test_without_a_base_there_are_two_sides_and_no_table():
    head = report({"a": "p"})
    against = against_other(head, report({"a": "f"}), "without-skill")
    assert with_arms(against, head, None).arms == ()
    assert conclusion_of(head, None, GateRules()).against is None
