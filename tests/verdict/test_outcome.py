"""Compare → gate → conclude over two reports."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from runevals.records import Finding, GateRules, Problem, Reason, State, Weakening
from runevals.records.rules import Shard
from runevals.verdict.outcome import Baseline, again, decide, decision, incomplete
from tests.sample_reports import case, report

SUITE = {f"k{n}": "ppp" for n in range(30)}
BASELINE = Baseline(report=report(SUITE), source="base.json")
OF_SETTINGS = Weakening(suite="runevals.yaml", key="min_effect", message="is 0.5")


def test_a_weakening_of_the_settings_comes_before_those_of_the_suites():
    head = report({key: letters for key, letters in SUITE.items() if key != "k0"})
    conclusion = decision(head, BASELINE, GateRules(), weakenings=(OF_SETTINGS,))
    assert [weakening.key for weakening in conclusion.comparison.weakenings] == ["min_effect", "k0"]


def test_an_incomplete_run_has_each_weakening_once_and_no_verdict_of_its_own():
    conclusion = decision(report(SUITE), BASELINE, GateRules(), weakenings=(OF_SETTINGS,))
    stopped = incomplete(conclusion, Problem(code="budget_exhausted", message="$1 is spent"), GateRules())
    assert stopped.comparison.weakenings == (OF_SETTINGS,)
    assert (stopped.verdict.outcome, stopped.report.complete) == ("unmeasured", False)


@pytest.mark.parametrize(("code", "exit_code"), [("budget_exhausted", 1), ("refused", 1), ("interrupted", 130)])
def test_a_loss_that_was_confirmed_before_the_run_stopped_still_blocks(code, exit_code):
    base = Baseline(report=report({f"k{n}": "p" * 12 for n in range(30)}), source="base.json")
    dead = {f"k{n}": "f" * 12 if n == 7 else "p" * 12 for n in range(30)}
    stopped = Problem(code=code, message="$1 is spent")
    verdict = incomplete(decision(report(dead), base, GateRules()), stopped, GateRules()).verdict
    assert verdict.exit_code == exit_code
    assert ("k7" in verdict.headline or "1 of 30 cases regressed" in verdict.headline) is (exit_code == 1)
    assert "$1 is spent" in verdict.headline
    unsure = decision(report({**SUITE, "k0": "fff"}), BASELINE, GateRules())
    assert unsure.verdict.exit_code == 3
    assert incomplete(unsure, stopped, GateRules()).verdict.exit_code == (130 if exit_code == 130 else 3)


def test_without_a_base_there_is_no_comparison():
    assert decision(report(SUITE), None, GateRules(), weakenings=(OF_SETTINGS,)).comparison is None


STEADY = {f"k{n}": "ppp" for n in range(20)}
LEAKS = st.text("pfe", min_size=1, max_size=5)
MEASURED = st.text("pf", min_size=1, max_size=5)
SETTINGS = st.sampled_from(["pass", "unmeasured", "fail"])
QUIET = settings(max_examples=100, deadline=None)


def ended(head, base=None, rules=None, **fields):
    """The verdict over one more case than the steady ones, with these attempts of both sides."""
    of_head, of_base = (
        None
        if letters is None
        else report([case("leak", letters, **fields), *(case(*one) for one in STEADY.items())])
        for letters in (head, base)
    )
    return decide(of_base, of_head, rules).verdict


@pytest.mark.parametrize(
    ("head", "base", "fields", "exit_code"),
    [
        pytest.param("f", None, {"category": "redteam"}, 1, id="leaks in its one attempt"),
        pytest.param("pfp", None, {"category": "redteam"}, 1, id="leaks in one of three"),
        pytest.param("fff", "fff", {"category": "redteam"}, 1, id="leaked on the base already"),
        pytest.param("p" * 10 + "f", "p" * 10, {"category": "redteam"}, 1, id="leaks after ten good attempts"),
        pytest.param("ppp", "ppp", {"category": "redteam"}, 0, id="never leaks"),
        pytest.param("pfp", "ppp", {"category": "replay"}, 0, id="replay that fails one of three"),
        pytest.param("pff", "ppp", {"category": "replay"}, 1, id="replay that fails two of three"),
        pytest.param("pfp", "ppp", {"critical": True}, 0, id="critical, fails one of three"),
        pytest.param("fff", "ppp", {}, 3, id="dead, in a steady suite"),
        pytest.param("ppp", "ppp", {}, 0, id="nothing"),
    ],
)
def test_absolute_gates_and_findings_end_in_one_exit_code(head, base, fields, exit_code):
    found = ended(head, base, **fields)
    assert found.exit_code == exit_code, found.headline
    assert exit_code == 0 or "leak" in found.headline
    assert ("f" in head) is (exit_code != 0 or found.warns)


@QUIET
@given(LEAKS, LEAKS, st.integers(0, 5), st.none() | LEAKS)
def test_more_attempts_never_turn_a_failed_absolute_gate_into_a_passed_one(head, more, place, base):
    before = ended(head, base, category="redteam").exit_code
    after = ended(head[:place] + more + head[place:], base, category="redteam").exit_code
    assert before != 1 or after == 1


@QUIET
@given(
    st.lists(st.tuples(MEASURED, MEASURED), min_size=1, max_size=12),
    st.sampled_from(["pass", "unmeasured", "fail"]),
)
def test_the_exit_code_follows_from_the_findings_and_the_setting(pairs, on_unknown):
    base, head = (report({f"k{n}": sides[side] for n, sides in enumerate(pairs)}) for side in (0, 1))
    found = decide(base, head, GateRules(on_unknown=on_unknown))
    states = {each.state for each in found.comparison.findings}
    names = [each.name for each in found.comparison.findings if each.dead]
    assert found.verdict.exit_code in CODES[on_unknown][found.comparison.state]
    assert found.verdict.exit_code or found.verdict.warns or not names
    assert State.NOT_KNOWN not in states or found.verdict.exit_code or found.verdict.warns


CODES = {
    "pass": {State.WORSE: {1}, State.NOT_KNOWN: {0}, State.NOT_WORSE: {0}},
    "unmeasured": {State.WORSE: {1}, State.NOT_KNOWN: {3}, State.NOT_WORSE: {0}},
    "fail": {State.WORSE: {1}, State.NOT_KNOWN: {3}, State.NOT_WORSE: {0, 3}},
}


@pytest.mark.parametrize(("exit_code", "state"), [(0, None), (3, State.NOT_KNOWN)])
def test_what_is_found_beside_the_comparison_decides_too(exit_code, state):
    conclusion = decision(report(SUITE), BASELINE, GateRules())
    reason = Reason.BASE_MISSING
    more = [] if state is None else [Finding(family="whole", state=state, reason=reason, detail="main has none")]
    found = again(conclusion, GateRules(), *more).verdict
    assert (found.exit_code, "main has none" in found.headline) == (exit_code, exit_code == 3)


def test_a_loss_that_no_gate_may_fail_the_run_for_is_a_warning():
    lost = {key: "fff" if n < 10 else "ppp" for n, key in enumerate(SUITE)}
    found = decide(report(SUITE), report(lost), GateRules(fail_on=("measured",))).verdict
    assert (found.exit_code, found.warns) == (0, True)
    assert found.headline.endswith("but no gate that may fail the run says so")


def test_a_loss_goes_before_what_is_not_known_and_errors():
    lost = {key: "fff" if n < 10 else "ppp" for n, key in enumerate(SUITE)}
    assert decide(report(SUITE), report({**lost, "k29": "eee"})).verdict.exit_code == 1


def test_a_shard_decides_nothing():
    made = report(dict.fromkeys(SUITE, "fff"))
    shard = replace(made, run=replace(made.run, shard=Shard(part=1, of=2)))
    found = decision(shard, BASELINE, GateRules())
    assert (found.verdict.outcome, found.verdict.exit_code, found.comparison, found.gates) == (
        "skipped",
        0,
        None,
        (),
    )


def test_a_base_that_is_required_and_missing_is_not_known():
    assert decide(None, report(SUITE), GateRules(baseline_required=True)).verdict.exit_code == 3
    found = decide(None, report(SUITE)).verdict
    assert (found.exit_code, found.headline.startswith("30 of 30 cases pass")) == (0, True)


def test_removed_cases_are_in_the_first_line():
    found = decide(report(SUITE), report(dict.fromkeys(list(SUITE)[2:], "ppp"))).verdict
    assert (found.exit_code, found.warns) == (0, True)
    assert found.headline.endswith("2 cases removed: k0, k1")
