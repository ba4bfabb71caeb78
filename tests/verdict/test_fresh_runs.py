"""Suspects are run again within limits, and each only once."""

from __future__ import annotations

import pytest

from runevals.records import RegressionRule
from runevals.verdict.compare import Sides
from runevals.verdict.fresh_runs import SingleCases
from tests.sample_reports import report
from tests.scripted_runner import ScriptedRunner, always

ROUNDS = {f"k{n}": "fff" if n < 3 else "ppp" for n in range(30)}
BASE = dict.fromkeys(ROUNDS, "ppp")


def looked_at(runner, **more):
    singles = SingleCases(runner, RegressionRule(**more))
    pairs = Sides.of(report(ROUNDS), report(BASE)).pairs
    singles.test(pairs)
    return singles, pairs


def test_no_case_is_run_again_twice():
    runner = ScriptedRunner(ROUNDS, always("p"), always("p"))
    singles, pairs = looked_at(runner)
    made = len(runner.asked)
    singles.test(pairs)
    assert (made, len(runner.asked)) == (6, 6)


def test_what_may_be_run_ends_it_and_the_rest_is_open():
    runner = ScriptedRunner(ROUNDS, always("p"), always("f"))
    singles, _ = looked_at(runner, max_fresh_runs=20)
    found = {suspect.key: suspect.state for suspect in singles.result().suspects}
    assert len(runner.asked) <= 20
    assert sorted(found.values()) == ["confirmed", "open", "open"]


def test_a_run_that_goes_on_looks_at_the_cases_that_it_chose_before():
    runner = ScriptedRunner(ROUNDS, always("p"), always("p"))
    runner.checking = lambda cases: [("evals/evals.json", "k1")]
    singles, _ = looked_at(runner)
    assert {key for _, key in runner.asked} == {"k1"}
    states = {suspect.key: suspect.state for suspect in singles.result().suspects}
    assert states == {"k1": "dropped", "k0": "open", "k2": "open"}


def test_a_base_that_turns_out_not_to_run_leaves_its_stored_runs():
    runner = ScriptedRunner(ROUNDS, always(""), always("f"))

    def again(side, cases):
        if side == "base":
            runner.why_no_base = "it does not start"
        return ScriptedRunner.again(runner, side, cases)

    runner.again = again
    singles, _ = looked_at(runner)
    assert {suspect.state for suspect in singles.result().suspects} == {"open"}
    assert runner.runs("head", "k0") == 12


@pytest.mark.parametrize(("again", "reason", "runs"), [("f", "none of 12 fresh runs", 12), ("p", "", 1)])
def test_one_stored_run_confirms_nothing_and_a_case_that_fails_for_ever_stays_a_doubt(again, reason, runs):
    rounds, base = {**dict.fromkeys(ROUNDS, "p"), "k0": "f"}, dict.fromkeys(ROUNDS, "p")
    runner = ScriptedRunner(rounds, always(""), always(again))
    runner.why_no_base = "it is deployed elsewhere"
    singles = SingleCases(runner, RegressionRule())
    singles.test(Sides.of(report(rounds), report(base)).pairs)
    (suspect,) = singles.result().suspects
    assert (suspect.key, suspect.state == "open", reason in suspect.reason) == ("k0", False, True)
    assert bool(suspect.reason) == bool(reason)
    assert runner.runs("head", "k0") == runs
