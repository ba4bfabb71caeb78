"""What is lost together with a part that is proven worse."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals import decide
from runevals.records import Acceptance, Finding, GateRules, Reason, State
from runevals.run.acceptance import with_acceptance
from runevals.verdict.accepted import lost_cases
from runevals.verdict.compare import compare
from runevals.verdict.lost_together import PROVEN_BEFORE, lost_keys, to_accept
from runevals.verdict.outcome import conclusion_of
from tests.sample_reports import case, checked_case, report

CASES = 24


def lost(base, head):
    """The keys of what is lost together; sides are the values of cases, of two categories in turn."""
    sides = [
        report([case(f"k{place}", value, category="ab"[place % 2]) for place, value in enumerate(values)])
        for values in (head, base)
    ]
    comparison = compare(*sides, "base.json")
    return {key for _, key in lost_keys(comparison)}, [one.name for one in comparison.parts(State.WORSE)]


def of(category):
    return {f"k{place}" for place in range(CASES) if "ab"[place % 2] == category}


def test_nothing_is_lost_together_without_a_part_that_is_worse():
    assert lost(["p"] * CASES, ["f", *["p"] * (CASES - 1)]) == (set(), [])


def test_cases_that_fail_now_are_lost_with_their_category():
    head = ["f" if place % 2 else "p" for place in range(CASES)]
    found, parts = lost(["p"] * CASES, head)
    assert found == of("b")
    assert "b" in parts


@pytest.mark.parametrize("noise", [0.0, 0.04])
def test_cases_whose_score_fell_are_lost_and_those_that_moved_a_little_are_not(noise):
    """Half of the cases of the other category fall a little in any run."""
    base = [[0.9]] * CASES
    head = [[0.6] if place % 2 else [0.9 - noise * (-1) ** (place // 2)] for place in range(CASES)]
    found, parts = lost(base, head)
    assert found == of("b")
    assert parts


@pytest.mark.parametrize(
    ("others", "together", "line"),
    [
        pytest.param(lambda n: 0.8 + n % 2 * 0.2, 5, "5 of 20 cases: k0, k1, k2 and 2 more", id="noise"),
        pytest.param(lambda _: 0.6, 20, "20 of 20 cases: k0, k1, k2 and 17 more", id="all fell"),
    ],
)
def test_cases_that_are_proven_lost_explain_a_fall_if_the_others_fell_much_less(others, together, line):
    """Those that are proven have more runs."""
    runs = [12 if number < 5 else 1 for number in range(20)]
    base = [checked_case(f"k{number}", *[[[0.9]]] * many) for number, many in enumerate(runs)]
    head = [
        checked_case(f"k{number}", *[[[0.6 if number < 5 else others(number)]]] * many)
        for number, many in enumerate(runs)
    ]
    made = decide(report(base), report(head))
    assert len(lost_keys(made.comparison)) == together
    assert made.verdict.headline == f"The score of c1 fell in {line}"


def test_what_fails_by_chance_outside_of_the_part_that_fell_is_not_lost_with_the_whole():
    """The whole fell, too, and by nothing but that part."""
    base = ["p"] * CASES
    base[0] = "pf"
    head = ["f" if place % 2 else "p" for place in range(CASES)]
    head[0] = "ff"
    found, parts = lost(base, head)
    assert found == of("b")
    assert {"", "b"} <= {*parts}


@pytest.mark.parametrize("cleared", [0, 10, 40, 100], ids="{} cleared by fresh runs".format)
def test_a_fall_of_which_no_case_is_lost_alone_names_those_that_fell_and_ends_with_their_acceptance(cleared):
    """One of five runs of every second case fails: each may be well alone, and so many cannot be."""
    base = [case(f"k{place}", "ppppp") for place in range(200)]
    head = [case(f"k{place}", "fpppp" if place % 2 else "ppppp") for place in range(200)]
    runs = report(head)
    comparison = compare(runs, report(base), "base.json")
    passed = [
        Finding(family="case", suite=one.suite, name=one.key, state=State.NOT_WORSE, reason=Reason.PASSED_AGAIN)
        for one in head[1 : 2 * cleared : 2]
    ]
    comparison = replace(comparison, findings=(*comparison.findings, *passed))
    conclusion = conclusion_of(runs, comparison, GateRules())
    fell = {f"k{place}" for place in range(1, 200, 2)}
    assert {key for _, key in lost_keys(comparison)} == fell
    assert conclusion.verdict.headline == "The pass rate of 200 cases fell by 10.0 points"
    losses = lost_cases(conclusion)
    acceptance = Acceptance(by="ana", losses=losses)
    done = with_acceptance(conclusion, acceptance, GateRules())
    assert done.verdict.exit_code == 0, done.verdict


def test_what_the_run_ended_without_settling_is_not_to_be_accepted():
    """It is settled once the loss that ended the run is accepted; what a limit left open stays open."""
    sides = [
        report([case(f"k{place}", value, category="ab"[place % 2]) for place, value in enumerate(values)])
        for values in (["f" if place % 2 else "p" for place in range(CASES)], ["p"] * CASES)
    ]
    comparison = compare(*sides, "base.json")
    details = {"k0": PROVEN_BEFORE, "k2": PROVEN_BEFORE, "k4": ""}
    unsettled = [
        Finding(
            family="case",
            suite=sides[0].cases[0].suite,
            name=key,
            state=State.NOT_KNOWN,
            reason=Reason.BUDGET,
            detail=detail,
        )
        for key, detail in details.items()
    ]
    comparison = replace(comparison, findings=(*comparison.findings, *unsettled))
    conclusion = conclusion_of(sides[0], comparison, GateRules())
    assert {key for _, key in to_accept(conclusion)} == of("b") | {"k4"}
