"""Simulated changes: answers are drawn from measured ones, and the product's own procedure decides."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from runevals.records import Delivery, Outcome, RegressionRule, State
from runevals.run.power.simulate import CaseOdds, Plan, Simulated
from tests.sample_reports import case, report


def odds(*outcomes, **more):
    cases = [case(f"k{number}", runs, **more) for number, runs in enumerate(outcomes)]
    return [CaseOdds.of(each) for each in cases]


def simulated(some, base, head, seed=1):
    plan = Plan(info=report([]).run, rule=RegressionRule(), repeat=3, base_looks=6)
    return Simulated(plan, some, base, head, random.Random(seed))


def test_a_case_that_was_never_measured_has_no_odds():
    assert odds("e") == [None]


@pytest.mark.parametrize(("runs", "passes"), [("ppf", 2), ("pp", 2), ("ff", 0)])
def test_runs_are_drawn_from_measured_ones_or_have_their_checks_turned(runs, passes):
    (one,) = odds(runs)
    assert (one.passes, one.runs) == (passes, len(runs))
    rng = random.Random(1)
    passed, failed = one.draw(1.0, rng), one.draw(0.0, rng)
    assert (passed.status, failed.status) == (Outcome.PASSED, Outcome.FAILED)
    assert {check.passed for turn in failed.turns for check in turn.results} == {False}


@pytest.mark.parametrize(
    ("base", "head", "state"),
    [
        ([1.0] * 10, [1.0] * 10, State.NOT_WORSE),
        ([1.0] * 10, [0.0] + [1.0] * 9, State.WORSE),
        ([1.0] * 10, [0.0] * 10, State.WORSE),
        ([0.0] * 10, [1.0] * 10, State.NOT_WORSE),
    ],
)
def test_the_verdict_is_that_of_the_product(base, head, state):
    runner = simulated(odds(*["ppp"] * 10), base, head)
    comparison = runner.decided()
    assert comparison.state is state
    assert comparison.improved == (sum(head) > sum(base))
    assert runner.runs["head"] >= 10


@pytest.mark.parametrize("dead", [0, 1])
def test_answers_with_ids_of_their_own_are_runs_of_their_own(dead):
    """A server gives each answer an id; a run that is drawn twice is not one that a cache repeated."""
    measured = [case(f"k{number}", "ppp") for number in range(10)]
    some = [CaseOdds.of(with_ids(each)) for each in measured]
    comparison = simulated(some, [1.0] * 10, [0.0] * dead + [1.0] * (10 - dead)).decided()
    assert comparison.state is (State.WORSE if dead else State.NOT_WORSE)


def with_ids(one):
    attempts = [
        replace(
            run,
            turns=tuple(
                replace(turn, output="Lima", delivery=delivery(one.key, run.attempt)) for turn in run.turns
            ),
        )
        for run in one.attempts
    ]
    return replace(one, attempts=tuple(attempts))


def delivery(key, attempt):
    return Delivery(response_id=f"chatcmpl-of-{key}-{attempt:08}")


def test_the_same_seed_makes_the_same_change():
    some, rates = odds(*["ppf"] * 8), [0.6] * 8
    made = [
        (runner.decided().state, dict(runner.runs)) for runner in (simulated(some, rates, rates, 7) for _ in "ab")
    ]
    assert made[0] == made[1]
