"""The first line: what a comparison found, in the words that are agreed on."""

from __future__ import annotations

import pytest

from runevals import decide
from runevals.records import ComparisonVerdict as V
from runevals.records import GateRules, RegressionRule
from runevals.reports import console
from runevals.verdict.decide import conclusion_of
from runevals.verdict.procedure import compare_in_rounds
from tests.sample_reports import case, report
from tests.scripted_runner import ScriptedRunner, always

SUITE = {f"k{n}": "ppp" for n in range(30)}
UNCLEAR = {**SUITE, "k0": "ffp", "k1": "ffp", "k2": "fpp"}


def headline(head, base=SUITE, **more):
    return decide(report(base, **more), report(head, **more)).verdict


@pytest.mark.parametrize(
    ("head", "told", "exit_code"),
    [
        (SUITE, "No regression shown in 30 cases", 0),
        (
            {**SUITE, **{f"k{n}": "fff" for n in range(6)}},
            "6 of 30 cases failed that passed on the base; the pass rate of 30 cases fell by",
            1,
        ),
        (
            UNCLEAR,
            "Inconclusive – the pass rate of 30 cases fell by 5.6 points (p = 0.02): it may be noise",
            0,
        ),
        ({**SUITE, "k0": "fff"}, "Inconclusive – k0 may be lost (nothing was run again)", 0),
    ],
)
def test_two_documents(head, told, exit_code):
    found = headline(head)
    assert found.headline.startswith(told), found.headline
    assert found.exit_code == exit_code


def test_a_real_drop_below_the_floor_is_not_called_noise():
    base = {f"k{n}": "ppp" for n in range(600)}
    found = headline({**base, **{f"k{n}": "fff" for n in range(10)}}, base)
    assert found.headline.startswith("A real drop of 1.7 points, below what blocks (p < 0.0001")
    assert "noise" not in found.headline


def test_an_improvement_has_its_own_p():
    base = {**SUITE, **{f"k{n}": "fff" for n in range(8)}}
    found = decide(report(base), report(SUITE))
    assert found.verdict.headline == "Improved – 8 cases fixed, none regressed"


def held(head, base, **fields):
    runner = ScriptedRunner({**SUITE, "k7": "fff"}, base, head)
    stored = report([case(key, letters, **fields) for key, letters in SUITE.items()])
    found = compare_in_rounds(runner, stored, "stored", RegressionRule())
    return conclusion_of(*found, GateRules())


def test_a_confirmed_case_is_counted_and_an_open_one_is_exit_3():
    lost = held(always("p", k7="f"), always("p"))
    assert (lost.verdict.headline, lost.verdict.exit_code) == ("1 of 30 cases regressed", 1)
    still_open = held(always("p", k7="f"), always("p", k7="e"))
    assert still_open.verdict.headline == "Inconclusive – k7 may be lost (some fresh runs errored)"
    assert (still_open.verdict.outcome, still_open.verdict.exit_code) == ("unmeasured", 3)
    assert still_open.comparison.verdict is V.INCONCLUSIVE


def test_a_case_that_passed_on_fresh_runs_is_not_one_more_that_may_be_lost():
    base = {f"k{n}": "ppp" for n in range(200)}
    runner = ScriptedRunner({**base, "k7": "fff", "k8": "fff"}, always("p"), always("p", k7="f"))
    head, found = compare_in_rounds(runner, report(base), "stored", RegressionRule())
    assert {one.key: one.state for one in found.suspects} == {"k7": "confirmed", "k8": "dropped"}
    assert conclusion_of(head, found, GateRules()).verdict.headline == "1 of 200 cases regressed"


def test_a_case_that_may_be_lost_is_named_even_if_its_drop_is_real_and_small():
    base = {f"k{n}": "p" * 8 for n in range(100)}
    found = headline({**base, "k7": "f" * 8}, base)
    small = "A real drop of 1.0 points, below what blocks (p < 0.0001; k7 may be lost, nothing was run again)"
    assert (found.headline, found.exit_code) == (small, 0)


def test_a_large_drop_that_may_be_noise_passes_unless_the_settings_say_otherwise():
    assert decide(report(SUITE), report(UNCLEAR)).verdict.exit_code == 0
    found = decide(report(SUITE), report(UNCLEAR), GateRules(on_inconclusive="fail")).verdict
    assert (found.outcome, found.exit_code) == ("unmeasured", 3)


def test_one_stored_run_and_twelve_failing_ones_pass_with_a_warning():
    base, head = dict.fromkeys(SUITE, "p"), {**dict.fromkeys(SUITE, "p"), "k7": "f"}
    runner = ScriptedRunner(head, always(""), always("f"))
    runner.why_no_base = "it is deployed elsewhere"
    found = compare_in_rounds(runner, report(base), "stored", RegressionRule())
    made = conclusion_of(*found, GateRules())
    assert (made.verdict.headline, made.verdict.exit_code) == ("1 case may be lost, not settled: k7", 0)
    shown = console.render(made)
    assert shown.startswith("⚠ 1 case may be lost")
    assert "k7 may be lost: it passed 1 stored run of the base and none of 12 fresh runs; more stored" in shown


@pytest.mark.parametrize(("lost", "cases", "exit_code"), [(2, 3, 1), (2, 6, 0), (3, 6, 1), (3, 20, 0), (4, 20, 1)])
def test_cases_with_one_stored_run_are_lost_if_they_are_too_many_for_chance(lost, cases, exit_code):
    base = {f"k{number}": "p" for number in range(cases)}
    head = {**base, **{f"k{number}": "f" for number in range(lost)}}
    runner = ScriptedRunner(head, always(""), always("f"))
    runner.why_no_base = "it is deployed elsewhere"
    found = conclusion_of(*compare_in_rounds(runner, report(base), "stored", RegressionRule()), GateRules())
    assert found.verdict.exit_code == exit_code
    regressed, doubt = f"{lost} of {cases} cases regressed", f"{lost} cases may be lost, not settled"
    assert found.verdict.headline.startswith(regressed if exit_code else doubt)


@pytest.mark.parametrize(("erring", "exit_code"), [(1, 1), (4, 3), (6, 3)])
def test_an_error_of_a_fresh_run_leaves_open_what_without_it_is_too_much_for_chance(erring, exit_code):
    base = {f"k{number}": "p" for number in range(6)}
    runner = ScriptedRunner(
        dict.fromkeys(base, "f"),
        always(""),
        lambda key, number: "e" if int(key[1:]) < erring and 4 <= number < 7 else "f",  # with its retries
    )
    runner.why_no_base = "it is deployed elsewhere"
    found = conclusion_of(*compare_in_rounds(runner, report(base), "stored", RegressionRule()), GateRules())
    assert found.verdict.exit_code == exit_code
    if exit_code == 3:
        assert "may be lost (some fresh runs errored" in found.verdict.headline


@pytest.mark.parametrize(("lost", "exit_code"), [(4, 1), (5, 1), (3, 0)])
def test_a_case_that_lacks_fresh_runs_does_not_hide_that_others_are_lost(lost, exit_code):
    base = {f"k{number}": "p" for number in range(20)}
    runner = ScriptedRunner(
        {**base, **{f"k{number}": "f" for number in (*range(lost), 19)}},
        always(""),
        lambda key, number: "" if key == "k19" and number else "f",
    )
    runner.why_no_base = "it is deployed elsewhere"
    rule = RegressionRule(max_fresh_runs=200)
    found = conclusion_of(*compare_in_rounds(runner, report(base), "stored", rule), GateRules())
    assert found.verdict.exit_code == exit_code


@pytest.mark.parametrize(("stored", "warns"), [("ppp", True), ("ppf", False), ("p", False)])
def test_a_case_that_fails_on_fresh_runs_of_both_sides_is_named_if_the_stored_base_always_passed_it(stored, warns):
    failing = always("p", k7="f")
    runner = ScriptedRunner({**SUITE, "k7": "f" * len(stored)}, failing, failing)
    found = compare_in_rounds(runner, report({**SUITE, "k7": stored}), "stored", RegressionRule())
    made = conclusion_of(*found, GateRules())
    named = "The stored base no longer holds for 1 case: k7"
    assert (made.verdict.exit_code, made.verdict.headline == named) == (0, warns)
    shown = console.render(made)
    assert shown.startswith("⚠ The stored base") is warns
    note = "k7 may be lost: the stored base no longer holds for it, which passed all 3 stored runs and failed all"
    assert (note in shown, "failed on fresh runs of the base too" in shown) == (warns, not warns)
