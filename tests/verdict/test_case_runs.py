"""Fresh runs of single cases: who gets them, edited cases in both forms, and what deterministic means."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from runevals.records import Delivery, Outcome, Reason, RegressionRule, State
from runevals.verdict.case_runs import CaseRuns, doubt_of
from runevals.verdict.matching import Pair
from runevals.verdict.reasons import MEANINGS
from runevals.verdict.sides import Sides
from tests.sample_reports import attempt, case, checked, checked_case, report
from tests.scripted_runner import ScriptedRunner, always

RULE = RegressionRule()
LETTER = st.sampled_from("pf")


def ran(
    head, base="p", *, cases=("k0",), old_form="f", rule=RULE, deterministic=False, now="f", edited=False, **more
):
    """(finding of each case, the runner, the runs): each passed three times before, and is `now` on the head."""
    marks = {name: more.pop(name) for name in ("answers", "category") if name in more}
    runner = ScriptedRunner(
        dict.fromkeys(cases, now), always(base), always(head), old_form=always(old_form), **marks
    )
    for name, value in more.items():
        if hasattr(runner, name):
            setattr(runner, name, value)
    form = {"fingerprint": "e"} if edited else {}
    sides = Sides.of(*(
        report([case(key, letters, **fields, category=marks.get("category")) for key in cases])
        for letters, fields in ((now, form), ("ppp", {}))
    ))  # fmt: skip
    runs = CaseRuns(runner, rule, **{name: value for name, value in more.items() if not hasattr(runner, name)})
    found = runs.findings(sides.pairs, sides.edited, deterministic=deterministic)
    return {each.name: each for each in found}, runner, runs


@pytest.mark.parametrize(
    ("head", "base", "reason"),
    [
        pytest.param("f", "p", Reason.PROVEN, id="dead"),
        pytest.param("p", "p", Reason.PASSED_AGAIN, id="it passes again"),
        pytest.param("fp", "f", Reason.BASE_ALIKE, id="the base is no better"),
        pytest.param("f", "f", Reason.UNPROVEN, id="neither passes now"),
        pytest.param("f", "e", Reason.ERRORS, id="the base errs"),
        pytest.param("e", "p", Reason.ERRORS, id="the head errs"),
        pytest.param("ef", "p", Reason.PROVEN, id="a run that errs is made again"),
    ],
)
def test_what_fresh_runs_of_both_sides_say(head, base, reason):
    found, _, _ = ran(head, base)
    assert found["k0"].reason is reason


def test_what_is_said_names_the_runs_it_is_said_of():
    found, runner, _ = ran("f")
    sides = [len(side.attempts) for side in (found["k0"].base, found["k0"].head)]
    assert sides == [runner.runs("base", "k0"), runner.runs("head", "k0")]
    assert found["k0"].e_value >= 1 / 0.005


@pytest.mark.parametrize("cached_side", ["head", "base"])
def test_a_cache_that_answers_the_fresh_runs_leaves_it_open(cached_side):
    made = {letter: _from_cache(attempt(1, outcome)) for letter, outcome in OUTCOMES.items()}
    sides = {"head": "f", "base": "p", cached_side: {"head": "c", "base": "d"}[cached_side]}
    found, _, _ = ran(**sides, answers={"c": made["f"], "d": made["p"]})
    assert (found["k0"].reason, "it says so" in found["k0"].detail) == (Reason.CACHE, True)


OUTCOMES = {"p": Outcome.PASSED, "f": Outcome.FAILED}


def _from_cache(made):
    return replace(made, turns=tuple(replace(turn, delivery=Delivery(from_cache=True)) for turn in made.turns))


@pytest.mark.parametrize(
    ("stored", "now", "fresh", "checks"),
    [
        pytest.param([["fp"]] * 3, [["ff"]], (["fp"], ["ff"]), ("c2",), id="a check of a case that failed before"),
        pytest.param([["p", "p"]] * 3, [["p", "f"]], (["p", "p"], ["p", "f"]), ("c1 in turn 2",), id="a turn"),
        pytest.param([[(1.0,)]] * 3, [[(0.25,)]], ([(1.0,)], [(0.25,)]), ("c1",), id="a grader's score"),
        pytest.param(
            [["fpppp"]] * 3, [["fffff"]], (["fpppp"], ["fffff"]), ("c2", "c3", "c4", "c5"),
            id="four of five checks to none",
        ),
    ],
)  # fmt: skip
def test_a_loss_inside_a_case_is_worse_and_its_checks_are_named(stored, now, fresh, checks):
    before, after = (checked(1, turns) for turns in fresh)
    runner = ScriptedRunner({"k0": "f"}, always("b"), always("h"), answers={"b": before, "h": after})
    pair = Pair.of(checked_case("k0", *stored), checked_case("k0", *now))
    [found] = CaseRuns(runner, RULE).findings([pair], [], deterministic=False)
    assert (found.state, found.checks) == (State.WORSE, checks)


@pytest.mark.parametrize(
    ("old", "new", "rule", "reason"),
    [
        pytest.param("f", "p", RULE, Reason.NEW_FORM, id="it passes only in its new form"),
        pytest.param("f", "p", RegressionRule(accepts_edits=False), Reason.PROVEN, id="which is not accepted"),
        pytest.param("f", "f", RULE, Reason.PROVEN, id="it fails in both"),
        pytest.param("p", "f", RULE, Reason.PASSED_AGAIN, id="made stricter"),
        pytest.param("p", "p", RULE, None, id="it passes in both"),
        pytest.param("", "f", RULE, Reason.OLD_FORM, id="its old form cannot be run"),
        pytest.param("", "p", RULE, None, id="and the new one passes"),
    ],
)
def test_an_edited_case_is_run_in_both_forms(old, new, rule, reason):
    found, _, runs = ran(new, old_form=old, now=new, rule=rule, edited=True)
    assert {name: each.reason for name, each in found.items()} == ({} if reason is None else {"k0": reason})
    assert all(each.edited for each in found.values())
    assert bool(runs.old_forms) is bool(old)


@pytest.mark.parametrize("new", ["p", "f"])
def test_an_edited_case_whose_old_form_failed_is_found_though_no_more_runs_are_allowed(new):
    found, _, _ = ran(new, old_form="f", now=new, rule=RegressionRule(max_fresh_runs=0), edited=True)
    assert (found["k0"].edited, found["k0"].reason) == (True, Reason.BY_CHANCE)


def test_an_edit_of_a_critical_case_excuses_nothing():
    found, _, _ = ran("p", old_form="f", now="p", edited=True, category="redteam")
    assert found["k0"].reason is Reason.PROVEN


@pytest.mark.parametrize("cases", [1, 100])
def test_a_deterministic_target_is_asked_twice_on_the_head_and_once_on_the_base(cases):
    keys = [f"k{n}" for n in range(cases)]
    found, runner, runs = ran("f", cases=keys, deterministic=True)
    asked = {key for _, key in runner.asked}
    assert {each.state for each in found.values()} == {State.WORSE}
    assert (len(found), len(asked), runs.determinism_violated) == (cases, min(cases, 10), False)
    assert {(runner.runs("head", key), runner.runs("base", key)) for key in asked} == {(2, 1)}


@pytest.mark.parametrize(
    ("head", "base", "state"),
    [
        pytest.param("p", "p", State.NOT_WORSE, id="it passes again"),
        pytest.param("fpffffffffff", "p", State.WORSE, id="it gave two answers, and the runs prove the loss"),
        pytest.param("fp", "f", State.NOT_WORSE, id="it gave two answers, and so did the base"),
    ],
)
def test_contradicting_runs_end_the_promise(head, base, state):
    found, _, runs = ran(head, base, deterministic=True)
    assert (runs.determinism_violated, found["k0"].state) == (True, state)


def test_critical_cases_get_their_runs_first():
    runner = ScriptedRunner({"k0": "f", "z": "f"}, always("p"), always("f"))
    pairs = [Pair.of(case(key, "ppp", critical=key == "z"), case(key, "f")) for key in ("k0", "z")]
    found = CaseRuns(runner, RegressionRule(max_fresh_runs=7)).findings(pairs, [], deterministic=False)
    assert {each.name: each.state for each in found}["z"] is State.WORSE
    assert runner.runs("head", "z") > runner.runs("head", "k0")


def test_after_another_loss_only_critical_cases_are_run_and_the_others_stay_open():
    found, runner, _ = ran("f", critical_only=True)
    assert (found["k0"].reason, runner.asked) == (Reason.BUDGET, [])
    assert ran("f", critical_only=True, category="redteam")[0]["k0"].state is State.WORSE


@pytest.mark.parametrize(
    ("head", "reason"), [("p", Reason.PASSED_AGAIN), ("f", Reason.EXACT), ("e", Reason.EXACT)]
)
def test_without_a_base_that_can_be_run_the_head_is_run_and_the_stored_runs_decide(head, reason):
    runner = ScriptedRunner({"k0": "f"}, always(""), always(head))
    runner.why_no_base = "it is deployed elsewhere"
    pair = Pair.of(case("k0", "p" * 12), case("k0", "f" * 12))
    [found] = CaseRuns(runner, RULE).findings([pair], [], deterministic=False)
    assert (found.reason, runner.runs("base", "k0")) == (reason, 0)


@pytest.mark.parametrize(
    ("base_is_commit", "lacks", "reason"),
    [(True, "", None), (False, "", Reason.BASE_EDITS), (True, "data.csv", Reason.BASE_FILES)],
)
def test_why_a_base_that_fails_now_clears_nothing(base_is_commit, lacks, reason):
    runner = ScriptedRunner({"k0": "f"}, always("f"), always("f"))
    runner.base_lacks = lacks
    found = doubt_of(runner, base_is_commit=base_is_commit)
    assert (None if found is None else found[0]) is reason


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 8), st.lists(st.tuples(LETTER, LETTER), min_size=1, max_size=4))
def test_the_budget_holds_and_what_was_not_run_is_not_cleared(budget, letters):
    keys = [f"k{n}" for n in range(len(letters))]
    sides = [dict(zip(keys, side, strict=True)) for side in zip(*letters, strict=True)]
    runner = ScriptedRunner(dict.fromkeys(keys, "f"), always("p", **sides[0]), always("p", **sides[1]))
    pairs = [Pair.of(case(key, "ppp"), case(key, "fff")) for key in keys]
    found = CaseRuns(runner, RegressionRule(max_fresh_runs=budget)).findings(pairs, [], deterministic=False)
    for side in ("base", "head"):
        assert sum(runner.runs(side, key) for key in keys) <= budget
    unrun = [each for each in found if not runner.runs("head", each.name)]
    assert [each for each in unrun if each.state is State.NOT_WORSE and not (each.dead and warns(each))] == []


def warns(finding):
    return MEANINGS[finding.reason].warns
