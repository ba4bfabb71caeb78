"""The plan of fresh runs: who enters, who is asked next, and what the runs show."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runevals.verdict.plan import Plan, Rules, Unit, entrant

ORDER = ["cleared", "not shown", "died", "unknown", "lost"]
RUNS = st.lists(st.sampled_from([0.0, 1.0, None]), max_size=12)


def unit(base, head, name="outcome"):
    return Unit(name=name, base=base, head=head)


def lost_case(case="a", **options):
    """An entrant that passed on the base and fails now."""
    found = entrant(case, [unit((1.0, 1.0, 1.0), (0.0,))], **options)
    assert found is not None
    return found


def followed(plan, rates, seed=1):
    """Makes every run the plan asks for: case → pass rate of each side; returns the runs of each round."""
    rng, rounds = random.Random(seed), []
    while requests := plan.requests():
        rounds.append(requests)
        for request in requests:
            rate = rates[request.case][request.side]
            runs = [{"outcome": float(rng.random() < rate)} for _ in range(request.runs)]
            plan.add(request.case, request.side, runs)
    return rounds


def runs_of(rounds, case, side):
    """How many runs of one side of a case the plan asked for."""
    requests = [request for of_round in rounds for request in of_round]
    return sum(request.runs for request in requests if (request.case, request.side) == (case, side))


@pytest.mark.parametrize(
    ("base", "head", "in_question"),
    [
        pytest.param((1.0, 1.0, 1.0), (0.0,), True, id="always to never"),
        pytest.param((1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0,), True, id="ever passed, fails now"),
        pytest.param((1.0,), (1.0, 1.0, 0.0), True, id="fell by a third"),
        pytest.param((1.0, 1.0), (1.0,), False, id="passes"),
        pytest.param((0.0,), (1.0,), False, id="a gain"),
        pytest.param((0.0, 0.0, 0.0), (0.0,), False, id="fails on both sides"),
        pytest.param((0.0,), (0.0,), True, id="failed in a single run of the base"),
        pytest.param((None,), (0.0,), True, id="no value on the base"),
        pytest.param((1.0,), (None,), True, id="no value on the head"),
        pytest.param((None,), (None,), False, id="no value at all"),
        pytest.param((0.9, 0.9), (0.6,), True, id="a score that fell by a quarter"),
        pytest.param((0.9, 0.9), (0.7,), False, id="a score that fell less"),
    ],
)
def test_who_enters(base, head, in_question):
    assert (entrant("a", [unit(base, head)]) is not None) is in_question


def test_a_loss_inside_a_case_that_failed_before_enters_with_its_check():
    found = entrant("a", [unit((0.0, 0.0, 0.0), (0.0,)), unit((1.0, 1.0, 1.0), (0.0,), "check 5")])
    assert found is not None
    assert [*found.cuts] == ["check 5"]


def test_a_score_passes_between_the_two_sides():
    found = entrant("a", [unit((0.9, 1.0), (0.55,))])
    assert found is not None
    assert found.cuts["outcome"] == pytest.approx(0.75)


def test_a_dead_case_is_lost_after_five_pairs_and_an_unchanged_one_is_cleared_after_two_runs():
    dead, alive = lost_case("dead"), lost_case("alive")
    plan = Plan([dead, alive], Rules())
    rounds = followed(plan, {"dead": {"base": 1.0, "head": 0.0}, "alive": {"base": 1.0, "head": 1.0}})
    found = plan.findings()
    assert found["dead"].state == "lost"
    assert found["alive"].state == "cleared"
    assert runs_of(rounds, "dead", "head") <= 6
    assert [runs_of(rounds, "alive", side) for side in ("head", "base")] == [2, 0]


def test_without_enough_runs_a_dead_case_is_named_with_what_settles_it():
    plan = Plan([lost_case()], Rules(fresh_runs=2))
    followed(plan, {"a": {"base": 1.0, "head": 0.0}})
    found = plan.findings()["a"]
    assert (found.state, found.more_pairs) == ("died", 3)


def test_between_the_levels_it_is_not_known():
    plan = Plan([lost_case()], Rules(fresh_runs=3))
    followed(plan, {"a": {"base": 1.0, "head": 0.0}})
    assert plan.findings()["a"].state == "unknown"


@pytest.mark.parametrize(
    ("stored", "state"),
    [
        pytest.param((1.0, 1.0, 1.0), "died", id="always passed before: named"),
        pytest.param((1.0, 0.0, 0.0), "cleared", id="failed before as well"),
    ],
)
def test_a_case_that_passes_nothing_now_on_either_side(stored, state):
    found = entrant("a", [unit(stored, (0.0,))])
    assert found is not None
    plan = Plan([found], Rules())
    followed(plan, {"a": {"base": 0.0, "head": 0.0}})
    assert plan.findings()["a"].state == state


def test_critical_cases_are_first():
    plan = Plan([lost_case("a"), lost_case("b", critical=True)], Rules(fresh_runs=2))
    assert [request.case for request in plan.requests()] == ["b"]


def test_a_deterministic_target_is_asked_twice_more_on_the_head_and_once_on_the_base():
    plan = Plan([lost_case(deterministic=True)], Rules())
    rounds = followed(plan, {"a": {"base": 1.0, "head": 0.0}})
    assert [(r.side, r.runs) for requests in rounds for r in requests] == [("head", 2), ("base", 1)]
    assert plan.findings()["a"].state == "lost"


def test_a_deterministic_target_that_disagrees_with_itself_is_no_longer_one():
    plan = Plan([lost_case(deterministic=True)], Rules())
    plan.add("a", "head", [{"outcome": 0.0}, {"outcome": 1.0}])
    plan.add("a", "base", [{"outcome": 1.0}])
    assert plan.findings()["a"].state == "open"


def test_a_case_that_fails_on_both_sides_enters_if_the_base_passes_now():
    doubtful = entrant("a", [unit((0.0, 0.0, 0.0), (0.0,))], doubts_base=True)
    assert doubtful is not None
    plan = Plan([doubtful], Rules())
    assert [(r.side, r.runs) for r in plan.requests()] == [("base", 1)]
    plan.add("a", "base", [{"outcome": 0.0}])
    assert (plan.findings(), plan.requests()) == ({}, [])
    plan = Plan([doubtful], Rules())
    followed(plan, {"a": {"base": 1.0, "head": 0.0}})
    assert plan.findings()["a"].state == "lost"


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), entrants=st.integers(1, 12), fresh_runs=st.integers(0, 96))
def test_the_limits_hold_and_it_ends(seed, entrants, fresh_runs):
    rng = random.Random(seed)
    plan = Plan([lost_case(number) for number in range(entrants)], Rules(fresh_runs=fresh_runs))
    rates = {number: {"base": rng.random(), "head": rng.choice((0.0, rng.random()))} for number in range(entrants)}
    rounds = followed(plan, rates, seed)
    for side in ("base", "head"):
        assert sum(r.runs for requests in rounds for r in requests if r.side == side) <= fresh_runs
    assert "open" not in {found.state for found in plan.findings().values()}


def finding(base, head):
    plan = Plan([lost_case()], Rules(fresh_runs=0))
    plan.add("a", "base", [{"outcome": value} for value in base])
    plan.add("a", "head", [{"outcome": value} for value in head])
    return plan.findings()["a"]


def rank(base, head):
    return ORDER.index(finding(base, head).state)


@given(RUNS, RUNS, st.data())
def test_a_further_loss_never_improves_it(base, head, data):
    passed = [index for index, value in enumerate(head) if value]
    if passed:
        worse = list(head)
        worse[data.draw(st.sampled_from(passed))] = 0.0
        assert rank(base, worse) >= rank(base, head)


@given(RUNS, RUNS, st.data())
def test_an_error_never_turns_a_loss_or_what_is_not_known_into_not_worse(base, head, data):
    sides = {"base": list(base), "head": list(head)}
    side = data.draw(st.sampled_from(["base", "head"]))
    before = rank(**sides)
    if sides[side]:
        sides[side][data.draw(st.integers(0, len(sides[side]) - 1))] = None
        assert rank(**sides) >= min(before, ORDER.index("unknown"))


@given(RUNS, RUNS, st.integers(0, 12))
def test_the_order_in_which_runs_arrive_from_either_side_does_not_matter(base, head, cut):
    first, second = Plan([lost_case()], Rules()), Plan([lost_case()], Rules())
    first.add("a", "base", [{"outcome": value} for value in base])
    first.add("a", "head", [{"outcome": value} for value in head])
    second.add("a", "head", [{"outcome": value} for value in head[:cut]])
    second.add("a", "base", [{"outcome": value} for value in base])
    second.add("a", "head", [{"outcome": value} for value in head[cut:]])
    assert first.findings() == second.findings()
    assert first.requests() == second.requests()


def test_more_entrants_need_more_evidence():
    few, many = (Plan([lost_case(case) for case in range(cases)], Rules(fresh_runs=5000)) for cases in (1, 100))
    assert many.entered == 100
    rates = {case: {"base": 1.0, "head": 0.0} for case in range(100)}
    of_few, of_many = (followed(plan, rates) for plan in (few, many))
    assert runs_of(of_few, 0, "head") < runs_of(of_many, 0, "head")


@given(RUNS, RUNS)
def test_what_is_lost_one_way_is_not_worse_the_other_way(base, head):
    if finding(base, head).state == "lost":
        assert rank(head, base) < ORDER.index("unknown")
