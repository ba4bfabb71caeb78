"""Gates, and the one verdict made of them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Gate, GateRules, GateState, Layer, Outcome, RegressionRule, Scope, State
from runevals.reports import JUNIT, console
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.outcome import Baseline, conclusion_of, decision
from runevals.verdict.score import over_attempts, over_turns
from runevals.verdict.settle import settled
from runevals.verdict.wording import how_sure
from tests.sample_reports import case, check, report
from tests.scripted_runner import ScriptedRunner, always


@pytest.fixture
def rules():
    return GateRules()


def decided(rules, head, base=None, **more):
    baseline = None if base is None else Baseline(report=report(base, **more), source="base.json")
    return decision(report(head, **more), baseline, rules)


def states(conclusion):
    return {gate.name: gate.state.value for gate in conclusion.gates}


def test_without_base_and_categories_a_measured_run_informs_and_passes(rules):
    found = decided(rules, {"a": "p", "b": "f"})
    assert states(found) == {"measured": "passed"}
    assert found.verdict.exit_code == 0
    assert found.verdict.headline == "1 of 2 cases pass – nothing to compare with yet"


@pytest.mark.parametrize(
    ("base", "head", "deterministic", "state"),
    [
        (None, "ppf", False, "failed"),
        (None, "pff", False, "failed"),
        (None, "f", False, "failed"),
        (None, "ppf", True, "failed"),
        ("ppf", "pff", False, "failed"),  # it failed on the base too
        ("ppp", "ppf", False, "failed"),
        ("eee", "fff", False, "failed"),
        ("ppp", "ppf", True, "failed"),
        ("ppp", "ppe", False, "not_applicable"),  # errors decide
        ("ppp", "pfe", False, "failed"),
    ],
)
def test_a_red_team_counts_every_attempt_whatever_the_base_did(rules, base, head, deterministic, state):
    some = {f"k{n}": "ppp" for n in range(9)}
    cases = [case(key, letters, category="redteam") for key, letters in {**some, "a": head}.items()]
    before = None if base is None else [case(k, x, category="redteam") for k, x in {**some, "a": base}.items()]
    found = decided(rules, cases, before, deterministic=deterministic, repeat=3)
    assert states(found)["redteam"] == state


def test_a_run_with_nothing_passing_says_that_no_gate_looked_at_it(rules):
    found = decided(rules, {"a": "f"})
    told = "0 of 1 case passes; no gate looked at this (no base, no min_pass_rate)"
    assert (found.verdict.exit_code, found.verdict.headline) == (0, told)
    assert console.render(found).startswith("– 0 of 1 case passes; ")
    floor = decided(replace(rules, min_pass_rate=0.0), {"a": "f"})
    assert console.render(floor).startswith("⚠ 0 of 1 case passes – nothing to compare with yet")


@pytest.mark.parametrize(
    ("category", "passing", "exit_code"),
    [
        ("replay", 4, 0),
        ("replay", 3, 1),
        ("redteam", 3, 1),
        ("regression", 4, 0),
        ("regression", 3, 1),
        ("other", 0, 0),
    ],
)
def test_category_gates(rules, category, passing, exit_code):
    cases = [case(f"k{n}", "p" if n < passing else "f", category=category) for n in range(4)]
    assert decided(rules, cases).verdict.exit_code == exit_code


def test_the_regression_category_allows_one_in_a_hundred(rules):
    cases = [case(f"k{n}", "f" if n == 0 else "p", category="regression") for n in range(100)]
    assert decided(rules, cases).verdict.exit_code == 0
    assert decided(rules, cases[:99]).verdict.exit_code == 1


def test_a_category_gate_looks_at_cases_of_skills_and_at_those_of_no_skill(rules):
    cases = [case("a", "p", category="redteam", group="s1"), case("b", "p", category="redteam", group="s2")]
    other = case("c", "f", category="redteam")
    assert decision(report(cases), None, rules).verdict.exit_code == 0
    found = decision(report([*cases, other]), None, rules)
    assert states(found)["redteam"] == "failed"
    assert "cases of no skill: 0 of 1 passed" in found.verdict.headline


def test_a_regression_is_red_by_name(rules):
    found = decided(rules, {"a": "f", "b": "p"}, {"a": "p", "b": "p"}, deterministic=True)
    assert (found.verdict.outcome, found.verdict.exit_code) == ("failed", 1)
    assert found.verdict.headline == "1 of 2 cases regressed: a"


def test_a_stochastic_regression_says_how_sure_it_is(rules):
    base = {f"k{n}": "ppp" for n in range(20)}
    found = decided(rules, {**base, **{f"k{n}": "fff" for n in range(6)}}, base)
    assert found.verdict.headline == "6 of 20 cases regressed: k0, k1, k2 and 3 more"
    assert found.comparison is not None
    assert "p < 0.0001 for a loss" in how_sure(found.comparison)[0]


def test_a_great_loss_in_too_few_runs_is_not_called_no_regression(rules):
    found = decided(rules, {"a": "f", "b": "f"}, {"a": "p", "b": "p"})
    assert (found.verdict.outcome, found.verdict.exit_code) == ("unmeasured", 3)
    assert found.verdict.headline.startswith("Not known – a, b may be lost: with 1 run a side")


def test_a_case_lost_of_many_is_named_though_one_run_a_side_proves_nothing(rules):
    base = {f"k{n}": "p" for n in range(40)}
    found = decided(rules, {**base, "k0": "f"}, base).verdict
    assert (found.exit_code, found.warns) == (0, True)
    assert found.headline.startswith(
        "No loss proven – k0 failed that passed on the base: with 1 run a side, about 1."
    )


def test_an_errored_case_is_unmeasured_never_green_and_never_red(rules):
    found = decided(rules, {"a": "e", "b": "p"}, {"a": "p", "b": "p"}, deterministic=True)
    assert (found.verdict.outcome, found.verdict.exit_code) == ("unmeasured", 3)
    assert found.verdict.headline == "Not measured – 1 of 2 cases could not be measured (target failed ×1)"


@pytest.mark.parametrize(
    ("attempts", "told"),
    [
        ({"a": "fe", "b": "pp"}, "1 of 2 cases failed and could be measured only in part"),
        ({"a": "fe", "b": "ee"}, "1 of 2 cases could not be measured, 1 that failed only in part"),
        ({"a": "pe", "b": "pp"}, "1 of 2 cases could not be measured"),
    ],
)
def test_a_case_that_failed_is_not_called_unmeasured(rules, attempts, told):
    found = decided(rules, attempts)
    assert found.verdict.exit_code == 3
    assert found.verdict.headline.startswith(f"Not measured – {told} (")


def test_a_regression_stands_beside_errors(rules):
    head = {"a": "e", "b": "f", "c": "p"}
    found = decided(rules, head, dict.fromkeys(head, "p"), deterministic=True)
    assert found.verdict.exit_code == 1


def test_some_errors_may_be_allowed(rules):
    allowed = replace(rules, errors_limit=0.1)
    head = {f"k{n}": "e" if n == 0 else "p" for n in range(10)}
    assert decided(allowed, head).verdict.exit_code == 0
    assert decided(allowed, {**head, "k1": "e"}).verdict.exit_code == 3


def test_nothing_measured_is_unmeasured(rules):
    assert decided(rules, {"a": "s"}).verdict.exit_code == 3
    assert decided(rules, {"a": "e"}).verdict.exit_code == 3


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ("ppppp", "passed"),
        ("ppppf", "passed"),
        ("pppff", "failed"),
        ("pppfe", "not_applicable"),
        ("ppffe", "failed"),
    ],
)
def test_an_absolute_gate_speaks_only_where_errors_do_not_decide(rules, outcomes, state):
    floor = replace(rules, min_pass_rate=0.8)
    found = decided(floor, {f"k{n}": letter for n, letter in enumerate(outcomes)})
    assert states(found)["min_pass_rate"] == state


def test_skipped_cases_are_in_no_pass_rate(rules):
    floor = replace(rules, min_pass_rate=1.0)
    assert states(decided(floor, {"a": "p", "b": "s"}))["min_pass_rate"] == "passed"


def test_fail_on_turns_other_gates_into_warnings_but_never_hides_what_was_not_measured(rules):
    soft = replace(rules, fail_on=("none",), min_pass_rate=0.9)
    found = decided(soft, {"a": "f", "b": "p"})
    assert states(found) == {"min_pass_rate": GateState.WARNED.value, "measured": "passed"}
    assert found.verdict.exit_code == 0
    assert decided(soft, {"a": "e"}).verdict.exit_code == 3


def test_an_incomparable_base_is_never_green(rules):
    base = {f"k{n}": "p" for n in range(10)}
    assert decided(rules, {"k0": "p"}, base).verdict.exit_code == 3


def test_a_required_base_that_is_missing_is_never_green(rules):
    assert decided(replace(rules, baseline_required=True), {"a": "p"}).verdict.exit_code == 3


def test_a_check_that_errored_in_a_failed_case_is_unmeasured_too(rules):
    from runevals.records import Layer
    from runevals.verdict.score import over_attempts, over_turns
    from tests.sample_reports import LETTERS, check

    made = case("a", "f")
    results = (check(LETTERS["f"]), check(LETTERS["e"], id="Relevance", layer=Layer.JUDGE))
    turn = replace(made.attempts[0].turns[0], results=results)
    found = decided(rules, [over_attempts(made, [over_turns(1, [turn])]), case("b", "p")])
    assert found.verdict.exit_code == 3


def test_headlines_say_what_was_lost(rules):
    graded = {f"k{n}": [0.9, 0.9, 0.9] for n in range(30)}
    found = decided(rules, {key: [0.7, 0.7, 0.7] for key in graded}, graded)
    assert found.verdict.headline == "The score of 30 cases fell by 20.0 points"
    rest = [case(f"k{n}", "ppp") for n in range(9)]
    base = [case("a", "ppp", critical=True), *rest]
    lost = decided(rules, [case("a", "fff", critical=True), *rest], base, deterministic=True)
    assert lost.verdict.headline == "1 of 10 cases regressed; a critical case is lost: a"


def own(rules, **gate):
    return replace(rules, gates=(Gate(**{"name": "mine", "limit": 0.0, "op": ">=", **gate}),))


CASES = [case("a", "p", category="eu", tags=("x",)), case("b", "f", category="eu"), case("c", "p")]


@pytest.mark.parametrize(
    ("gate", "state"),
    [
        ({"metric": "pass_rate", "limit": 0.6}, "passed"),
        ({"metric": "pass_rate", "limit": 0.7}, "failed"),
        ({"metric": "pass_rate", "limit": 1.0, "scope": Scope(tag="x")}, "passed"),
        ({"metric": "pass_rate", "limit": 0.6, "scope": Scope(category="eu")}, "failed"),
        ({"metric": "pass_rate", "limit": 1.0, "scope": Scope(case="[ac]")}, "passed"),
        ({"metric": "composite", "limit": 3.6}, "passed"),
        ({"metric": "share", "limit": 0.7}, "failed"),
        ({"metric": "evaluator:ExactMatch", "limit": 0.7}, "failed"),
        ({"metric": "cost_usd", "op": "<=", "limit": 0.003}, "passed"),
        ({"metric": "cost_usd", "op": "<", "limit": 0.001}, "failed"),
        ({"metric": "latency_p95_s", "op": "<=", "limit": 0.5}, "passed"),
        ({"metric": "tokens", "op": "==", "limit": 45}, "passed"),
        ({"metric": "errors", "op": "<=", "limit": 0}, "passed"),
        ({"metric": "composite", "limit": 5, "level": "warn"}, "warned"),
        ({"metric": "composite", "limit": 1, "scope": Scope(category="none")}, "failed"),
        ({"metric": "composite", "limit": 1, "scope": Scope(category="none"), "on_missing": "pass"}, "passed"),
        ({"metric": "judge_coverage", "limit": 1}, "failed"),
        ({"metric": "regressions", "op": "<=", "limit": 0}, "not_applicable"),
    ],
)
def test_gates_of_the_rules(rules, gate, state):
    assert states(decided(own(rules, **gate), CASES))["mine"] == state


@pytest.mark.parametrize("metric", ["pass_rate", "composite"])
def test_a_gate_on_cases_that_a_filter_left_out_does_not_apply(rules, metric):
    rules = own(rules, metric=metric, limit=1, scope=Scope(category="asia"))
    for settings, state in (({}, "failed"), ({"filter": ["a"]}, "not_applicable")):
        made = report(CASES[:1])
        found = decision(replace(made, run=replace(made.run, settings=settings)), None, rules)
        assert states(found)["mine"] == state


@pytest.mark.parametrize("metric", ["cost_usd", "tokens"])
def test_a_gate_on_costs_does_not_depend_on_the_number_of_rounds(rules, metric):
    def observed(runs):
        found = decided(own(rules, metric=metric, op="<=", limit=9), {"a": runs, "b": "p"})
        return next(one.observed for one in found.gates if one.name == "mine")

    assert observed("p") == observed("ppp") > 0


@pytest.mark.parametrize(
    ("scope", "base", "state"),
    [
        pytest.param("eur", "eu", "warned", id="nor had the base one: a change could not mend it"),
        pytest.param("eur", "eur", "failed", id="the change took them out"),
        pytest.param("eu", "eu", "failed", id="its cases fail"),
    ],
)
def test_a_gate_of_the_base_that_never_had_a_case_blocks_no_change(rules, scope, base, state):
    mine = replace(own(rules, metric="pass_rate", scope=Scope(category=scope), limit=1.0), labels_of_base=True)
    head, before = [case("a", "f", category="eu")], [case("b" if base == "eur" else "a", "f", category=base)]
    assert states(decided(mine, head, before))["mine"] == state


def test_a_gate_names_what_no_case_has(rules):
    def reason(**gate):
        found = decided(own(rules, **gate), [case("a", "p", category="eu", tags=("slow",))])
        return next(one.reason for one in found.gates if one.name == "mine")

    assert reason(metric="pass_rate", scope=Scope(category="eur")) == (
        "pass_rate: no case is in its scope (category eur); did you mean 'eu'?"
    )
    assert reason(metric="pass_rate", scope=Scope(tag="fast")) == "pass_rate: no case is in its scope (tag fast)"
    assert reason(metric="evaluator:ExactMach") == (
        "evaluator:ExactMach: no check is called ExactMach; did you mean 'ExactMatch'?"
    )


@pytest.mark.parametrize(
    ("gate", "state"),
    [
        ({}, "failed"),
        ({"op": ">"}, "failed"),
        ({"on_missing": "pass"}, "passed"),
        ({"name": "redteam"}, "failed"),
    ],
)
def test_a_gate_whose_cases_are_all_skipped_has_nothing_to_measure(rules, gate, state):
    cases = [case("a", "p"), case("b", "s", category="eu"), case("c", "s", category="redteam")]
    found = decided(own(rules, metric="pass_rate", scope=Scope(category="eu"), **gate), cases)
    assert states(found)[gate.get("name", "mine")] == state
    if state == "failed":
        assert "pass_rate: nothing to measure it on" in {one.reason for one in found.gates}


def test_the_gate_of_a_category_does_not_apply_if_its_cases_are_all_skipped(rules):
    assert (
        states(decided(rules, [case("a", "p"), case("b", "s", category="redteam")]))["redteam"] == "not_applicable"
    )


@pytest.mark.parametrize(
    ("metric", "limit", "state"),
    [
        ("composite", 3.0, "passed"),  # 9 of 10 at 4.56, the errored one at worst 1: 4.2
        ("composite", 4.4, "not_applicable"),
        ("composite", 4.7, "failed"),  # at best 4.6
        ("share", 0.9, "not_applicable"),
        ("evaluator:ExactMatch", 0.85, "not_applicable"),
        ("evaluator:ExactMatch", 0.75, "passed"),
    ],
)
def test_a_gate_that_depends_on_what_errored_says_nothing(rules, metric, limit, state):
    letters = "ppppppppfe"
    cases = {f"k{n}": letter for n, letter in enumerate(letters)}
    assert states(decided(own(rules, metric=metric, limit=limit), cases))["mine"] == state


def test_a_gate_on_nothing_but_errors_is_no_failure_but_not_measured(rules):
    found = decided(own(rules, metric="composite", limit=3), {"a": "e"})
    assert states(found)["mine"] == "not_applicable"
    assert found.verdict.exit_code == 3


@pytest.mark.parametrize(("passing", "state"), [(29, "passed"), (26, "passed"), (24, "failed")])
def test_a_wilson_bound_fails_only_what_is_surely_below(rules, passing, state):
    """Of 30: 26 is at most 95.9 %, 24 at most 91.4 %."""
    cases = {f"k{n}": "p" if n < passing else "f" for n in range(30)}
    gate = own(rules, metric="pass_rate", limit=0.95, bound="wilson")
    assert states(decided(gate, cases))["mine"] == state


@pytest.mark.parametrize("metric", ["pass_rate", "evaluator:ExactMatch"])
def test_a_case_that_made_more_runs_counts_no_more_than_others(rules, metric):
    """Critical cases make all rounds, also of a run that ends after the first."""
    cases = {f"k{n}": "ppp" if n < 15 else "p" if n < 30 else "f" for n in range(36)}
    found = decided(own(rules, metric=metric, limit=0.9), cases)
    gate = next(gate for gate in found.gates if gate.name == "mine")
    assert (gate.state, gate.observed) == (GateState.FAILED, pytest.approx(30 / 36))
    assert found.verdict.exit_code == 1
    assert metric != "pass_rate" or gate.reason == "60 of 66 passed, 83.3 % as each case counts the same"


def test_a_gate_of_all_says_how_often_chance_alone_turns_it_red(rules):
    def reason(base, **more):
        cases = [case(f"k{n}", "p", category="redteam") for n in range(30)]
        before = [case(f"k{n}", "f" if n < base else "p", category="redteam") for n in range(30)]
        return decided(rules, cases, before, **more).gates[1].reason

    # 27 of the base's 30 runs passed: 1 − 0.9³⁰ = 96 %
    assert reason(3) == "30 of 30 passed; by the base's runs, an unchanged suite fails it 96 % of the time"
    assert reason(0) == "30 of 30 passed"
    assert reason(3, deterministic=True) == "30 of 30 passed"


def test_a_gate_of_a_few_cases_says_how_often_chance_alone_turns_it_red(rules):
    before = [case(f"k{n}", "ppf" if n < 1 else "ppp", category="eu") for n in range(5)]
    cases = [case(f"k{n}", "f" if n < 1 else "p", category="eu") for n in range(5)]
    gate = own(rules, metric="pass_rate", limit=0.9, scope=Scope(category="eu"))
    [mine, *_] = decided(gate, cases, before).gates
    # 14 of the base's 15 runs passed, and all five must: 1 − (14/15)⁵ = 29 %
    often = "by the base's runs, an unchanged suite fails it 29 % of the time"
    assert mine.reason == f"4 of 5 passed; {often} (`bound: wilson` allows for chance)"


def test_a_quarantined_case_is_in_no_gate(rules):
    flaky = case("a", "f", category="redteam", quarantined=True)
    assert decided(rules, [flaky, case("b", "p", category="redteam")]).verdict.exit_code == 0
    broken = case("a", "e", category="redteam", quarantined=True)
    assert decided(rules, [broken, case("b", "p", category="redteam")]).verdict.exit_code == 0


def test_cost_change_is_of_one_run_of_a_case(rules):
    """However many rounds each side made; the fixture's runs cost the same."""
    base = {f"k{n}": "ppp" for n in range(10)}
    found = decided(own(rules, metric="cost_change", op="==", limit=0), dict.fromkeys(base, "p"), base)
    assert states(found)["mine"] == "passed"


def test_the_cost_of_a_free_target_does_not_change(rules):
    base = at_cost(0.0)
    found = decided(own(rules, metric="cost_change", op="<=", limit=0), base, base)
    assert states(found)["mine"] == "passed"
    dearer = decided(own(rules, metric="cost_change", op="<=", limit=0), at_cost(1.0), base)
    assert states(dearer)["mine"] == "failed"


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"key": "new"}, "failed"),
        ({"fingerprint": "blank", "normalised_fingerprint": case("k0", "p").fingerprint}, "failed"),
        ({"fingerprint": "edited"}, "passed"),
    ],
)
def test_cost_change_is_of_the_cases_that_have_the_same_content_on_both_sides(rules, changes, state):
    base = [case(f"k{n}", "p") for n in range(10)]
    (attempt,) = base[0].attempts
    dear = replace(attempt, turns=(replace(attempt.turns[0], cost_usd=1.0),))
    head = [replace(base[0], attempts=(dear,), **changes), *base[1:]]
    found = decided(own(rules, metric="cost_change", op="<=", limit=0), head, base)
    assert states(found)["mine"] == state


def at_cost(cost, **letters):
    """Ten cases that pass, but for these, whose answers have this cost."""
    made = [case(key, letter) for key, letter in {**{f"k{n}": "p" for n in range(10)}, **letters}.items()]
    return [
        replace(
            each, attempts=tuple(replace(a, turns=(replace(a.turns[0], cost_usd=cost),)) for a in each.attempts)
        )
        for each in made
    ]


@pytest.mark.parametrize(
    ("base", "head", "state"),
    [
        pytest.param(at_cost(1.0, k0="e"), at_cost(1.0), "passed", id="errored on the base only"),
        pytest.param(at_cost(1.0, k0="e"), at_cost(2.0, k0="e"), "failed", id="errored on both sides, and dearer"),
        pytest.param(at_cost(1.0), at_cost(2.0, k0="ppe"), "failed", id="a run that errored is not a cheap one"),
        pytest.param(
            at_cost(1.0, k0="e"), at_cost(None, k0="e"), "failed", id="the cost of the others is unknown"
        ),
    ],
)
def test_errors_decide_no_gate_on_the_change_of_the_cost(rules, base, head, state):
    gated = replace(own(rules, metric="cost_change", op="<=", limit=0.95), errors_limit=0.2)
    assert states(decided(gated, head, base))["mine"] == state


@pytest.mark.parametrize(
    ("letters", "limit", "state"),
    [
        pytest.param({"k0": "e", "k1": "e"}, 9, "not_applicable", id="8 without the errored ones, 10 with them"),
        pytest.param({"k0": "e", "k1": "e"}, 10, "passed", id="enough for all"),
        pytest.param({"k0": "e", "k1": "e"}, 7, "failed", id="too much without them"),
        pytest.param({"k0": "pe", "k1": "s"}, 9, "passed", id="answered once, and skipped"),
    ],
)
def test_a_case_that_errored_is_no_cheap_one(rules, letters, limit, state):
    gated = replace(own(rules, metric="cost_usd", op="<=", limit=limit), errors_limit=0.2)
    cases = at_cost(1.0, **letters)
    dead = [
        replace(c, attempts=tuple(replace(a, turns=()) for a in c.attempts))
        if letters.get(c.key) in ("e", "s")
        else c
        for c in cases
    ]
    assert states(decided(gated, dead))["mine"] == state


def test_a_cost_that_the_target_does_not_report_fails_its_gate_also_beside_an_error(rules):
    gated = replace(own(rules, metric="cost_usd", op="<=", limit=5), errors_limit=0.2)
    assert states(decided(gated, at_cost(None, k0="e")))["mine"] == "failed"
    assert states(decided(gated, [case("a", "e")]))["mine"] == "not_applicable"


def test_weakening_looks_at_its_scope(rules):
    base = [case("a", "p", category="x"), *(case(f"k{n}", "p") for n in range(9))]
    for category, state in (("x", "failed"), (None, "failed"), ("y", "failed")):
        gate = own(rules, metric="weakening", op="<=", limit=0, scope=Scope(category=category))
        kept = [*base[1:], case("new", "p", category="y"), case("x2", "p", category="x")]
        assert states(decided(gate, kept, base))["mine"] == ("passed" if category == "y" else state)


@pytest.mark.parametrize(
    ("metric", "limit", "state"),
    [
        ("regressions", 1, "passed"),
        ("regressions", 0, "failed"),
        ("new_failures", 1, "failed"),
        ("weakening", 0, "failed"),
    ],
)
def test_gates_about_the_difference(rules, metric, limit, state):
    base = [case(key, "p") for key in "abcdefgh"]
    head = [case("a", "f"), *(case(key, "p") for key in "bcdefg"), case("new", "f")]
    found = decided(own(rules, metric=metric, op="<=", limit=limit), head, base, deterministic=True)
    assert states(found)["mine"] == state


def test_an_added_case_that_the_base_quarantines_is_no_new_failure(rules):
    base = [case(key, "p") for key in "abcdefgh"]
    gated = own(rules, metric="new_failures", op="<=", limit=0)
    for quarantined, state in ((True, "passed"), (False, "failed")):
        head = [*base, case("new", "f", quarantined=quarantined)]
        assert states(decided(gated, head, base))["mine"] == state


@pytest.mark.parametrize(
    ("floor", "letters", "state", "exit_code"),
    [
        pytest.param(0.9, "f" + "p" * 17 + "ee", "not_applicable", 3, id="errors decide"),
        pytest.param(0.8, "f" + "p" * 17 + "ee", "passed", 0, id="it holds although all errored ones fail"),
        pytest.param(0.9, "fff" + "p" * 15 + "ee", "failed", 1, id="it fails although all errored ones pass"),
    ],
)
def test_a_run_within_the_limit_of_errors_passes_only_if_these_decide_no_gate(
    rules, floor, letters, state, exit_code
):
    allowed = replace(rules, errors_limit=0.1, min_pass_rate=floor)
    found = decided(allowed, {f"k{n}": letter for n, letter in enumerate(letters)})
    assert states(found) == {"min_pass_rate": state, "measured": "passed"}
    assert found.verdict.exit_code == exit_code


@pytest.mark.parametrize(("letters", "exit_code"), [("pppe", 3), ("pppp", 0), ("s", 0), ("e", 3), ("pffe", 1)])
def test_an_error_in_a_category_of_which_all_must_pass_is_no_pass(rules, letters, exit_code):
    allowed = replace(rules, errors_limit=0.1)
    cases = [case(f"r{n}", letter, category="redteam") for n, letter in enumerate(letters)]
    found = decided(allowed, [*cases, *(case(f"k{n}", "p") for n in range(20))])
    assert found.verdict.exit_code == exit_code
    if exit_code == 3:
        assert found.verdict.headline.startswith("Not measured – the gate redteam: ")


def test_a_skill_whose_cases_are_skipped_does_not_hide_that_errors_decide_another(rules):
    cases = [case("a", "s", category="redteam", group="s1"), case("b", "e", category="redteam", group="s2")]
    allowed = replace(rules, errors_limit=0.1)
    assert decided(allowed, [*cases, *(case(f"k{n}", "p") for n in range(20))]).verdict.exit_code == 3


def test_errors_that_would_decide_a_gate_that_only_warns_do_not_keep_a_run_from_passing(rules):
    head = {f"k{n}": letter for n, letter in enumerate("f" + "p" * 17 + "ee")}
    warns = own(replace(rules, errors_limit=0.1), metric="pass_rate", limit=0.9, level="warn")
    assert decided(warns, head).verdict.exit_code == 0
    other = replace(rules, errors_limit=0.1, min_pass_rate=0.9, fail_on=("no_regression",))
    assert decided(other, head).verdict.exit_code == 0


@pytest.mark.parametrize("metric", ["errors", "judge_coverage"])
def test_a_gate_on_what_was_measured_is_never_a_failed_run(rules, metric):
    judged = [check(Outcome.PASSED, id="q", layer=Layer.JUDGE), check(Outcome.ERRORED, id="r", layer=Layer.JUDGE)]
    op, limit = ("<=", 0.1) if metric == "errors" else (">=", 0.9)
    allowed = own(replace(rules, errors_limit=1.0), metric=metric, op=op, limit=limit)
    found = decided(allowed, [*checked(*judged), case("b", "p")])
    assert states(found) == {"mine": "failed", "measured": "passed"}
    assert (found.verdict.outcome, found.verdict.exit_code) == ("unmeasured", 3)
    assert found.verdict.headline.startswith(f"Not measured – the gate mine: {metric} is ")
    assert "<error" in JUNIT.render(found)


def test_a_gate_that_fails_whatever_errored_goes_before_one_on_errors(rules):
    gated = replace(own(rules, metric="errors", op="<=", limit=0), min_pass_rate=0.9)
    assert decided(gated, {"a": "e", "b": "f", "c": "p"}).verdict.exit_code == 1


@pytest.mark.parametrize(
    ("metric", "errored", "state", "exit_code"),
    [
        pytest.param("regressions", "k0", "not_applicable", 3, id="it passed on the base"),
        pytest.param("new_failures", "k0", "not_applicable", 3, id="it would be new, too"),
        pytest.param("regressions", "k1", "passed", 0, id="it failed on the base"),
        pytest.param("regressions", "new", "passed", 0, id="the base does not have it"),
        pytest.param("new_failures", "new", "not_applicable", 3, id="an added case may have failed"),
    ],
)
def test_errors_within_the_limit_may_be_regressions_and_new_failures(rules, metric, errored, state, exit_code):
    base = {"k0": "pfp", "k1": "fff", **{f"k{n}": "ppp" for n in range(2, 20)}}
    allowed = replace(rules, errors_limit=0.2, regression=RegressionRule(max_errors=0.2))
    assert decided(allowed, {**base, errored: "eee"}, base).verdict.exit_code == 0  # the control: no such gate
    found = decided(own(allowed, metric=metric, op="<=", limit=0), {**base, errored: "eee"}, base)
    assert (states(found)["mine"], found.verdict.exit_code) == (state, exit_code)


@pytest.mark.parametrize("metric", ["regressions", "new_failures"])
@pytest.mark.parametrize(
    ("on_fresh_runs", "on_base", "state", "exit_code"),
    [
        pytest.param("p", "p", "passed", 0, id="passes on fresh runs"),
        pytest.param("f", "p", "failed", 1, id="confirmed"),
        pytest.param("f", "e", "not_applicable", 3, id="fresh runs of the base errored"),
    ],
)
def test_a_case_counts_as_regressed_unless_its_fresh_runs_pass(
    rules, metric, on_fresh_runs, on_base, state, exit_code
):
    suite = {f"k{n}": "ppp" for n in range(30)}
    runner = ScriptedRunner({**suite, "k7": "fff"}, always("p", k7=on_base), always("p", k7=on_fresh_runs))
    measured = settled(runner, report(suite), "stored", RegressionRule())
    found = conclusion_of(*measured, own(rules, metric=metric, op="<=", limit=0))
    assert [change.key for change in found.comparison.of_kind("regressed")] == ["k7"]
    assert (states(found)["mine"], found.verdict.exit_code) == (state, exit_code)


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("attempts", ["f", "fff"])
@pytest.mark.parametrize("fields", [{}, {"critical": True}])
def test_a_case_that_nothing_ran_again_counts_as_regressed(rules, deterministic, attempts, fields):
    """As in two documents that `compare` and `gate` read."""
    before = [case(f"k{n}", "p" * len(attempts), **fields) for n in range(8)]
    head = [case("k0", attempts, **fields), *before[1:]]
    gated = own(rules, metric="regressions", op="<=", limit=0)
    found = decided(gated, head, before, deterministic=deterministic)
    assert (states(found)["mine"], found.verdict.exit_code) == ("failed", 1)


@pytest.mark.parametrize(
    ("is_fresh", "verdict", "state", "observed"),
    [
        pytest.param(True, State.WORSE, "failed", 8, id="the whole is lost"),
        pytest.param(False, State.NOT_WORSE, "passed", 0, id="fresh runs of all do not confirm it"),
    ],
)
def test_if_the_whole_is_lost_every_case_that_fails_now_counts(rules, is_fresh, verdict, state, observed):
    suite = {f"k{n}": "ppp" for n in range(30)}
    runner = ScriptedRunner({**suite, **{f"k{n}": "fff" for n in range(8)}}, always("p"), always("p"))
    measured = settled(runner, report(suite), "base", RegressionRule(), fresh=is_fresh)
    found = conclusion_of(*measured, own(rules, metric="regressions", op="<=", limit=0))
    gate = next(gate for gate in found.gates if gate.name == "mine")
    assert found.comparison.state is verdict
    assert (gate.state, gate.observed) == (state, observed)


def test_a_gate_with_a_presets_name_replaces_it(rules):
    softer = replace(rules, gates=(Gate(name="redteam", metric="pass_rate", op=">=", limit=0.5),))
    cases = [case("a", "p", category="redteam"), case("b", "f", category="redteam")]
    assert decided(rules, cases).verdict.exit_code == 1
    assert decided(softer, cases).verdict.exit_code == 0
    floor = replace(rules, gates=(Gate(name="no_regression", metric="pass_rate", op=">=", limit=0.9),))
    found = decided(floor, {"a": "p", "b": "f"}, {"a": "p", "b": "f"})
    assert found.verdict.headline == (
        "The gate no_regression failed (at least 90 % must pass): 1 of 2 passed; by the base's runs, an unchanged "
        "suite fails it 75 % of the time (`bound: wilson` allows for chance)"
    )


def test_line_one_says_what_was_lost_before_a_gate_of_ones_own(rules):
    floor = replace(rules, gates=(Gate(name="floor", metric="pass_rate", op=">=", limit=0.9),))
    found = decided(floor, {"a": "f", "b": "p"}, {"a": "p", "b": "p"}, deterministic=True)
    assert found.verdict.headline == (
        "1 of 2 cases regressed: a; the gate floor failed (at least 90 % must pass): 1 of 2 passed"
    )


def checked(*checks):
    """A case with these results."""
    made = case("a", "p")
    turn = replace(made.attempts[0].turns[0], results=checks)
    return [over_attempts(made, [over_turns(1, [turn])])]


def test_checks_of_a_judge_that_gives_no_scores_are_gated_by_their_pass_rate(rules):
    checks = [
        check(outcome, id=f"expectation ({n})", evaluator="expectation", layer=Layer.JUDGE, value=None)
        for n, outcome in enumerate((Outcome.PASSED, Outcome.PASSED, Outcome.FAILED))
    ]
    for metric, observed in (("evaluator:expectation", 2 / 3), ("judge_coverage", 1.0)):
        gates = (Gate(name="own", metric=metric, op=">=", limit=0.5),)
        gate = decided(replace(rules, gates=gates), checked(*checks)).gates[0]
        assert (gate.state, gate.observed) == (GateState.PASSED, pytest.approx(observed))


@pytest.mark.parametrize(
    ("values", "scales", "state", "reason"),
    [
        ((5, 5, 5, 3), (5, 5, 5, 5), "passed", "4.5"),
        ((5, 5, 5, None), (5, 5, 5, 5), "passed", "5"),  # at worst 4
        ((5, 5, None, None), (5, 5, 5, 5), "not_applicable", ""),  # from 3 to 5
        ((2, 2, 10, 10), (5, 5, 10, 10), "failed", "its scores are on several scales"),
    ],
)
def test_scores_of_a_judge_are_averaged_on_one_scale_and_a_missing_one_is_unknown(
    rules, values, scales, state, reason
):
    checks = [
        check(Outcome.PASSED, id=f"q{n}", evaluator="Q", layer=Layer.JUDGE, value=value, scale=(1, most))
        for n, (value, most) in enumerate(zip(values, scales, strict=True))
    ]
    gate = decided(own(rules, metric="evaluator:Q", limit=4), checked(*checks)).gates[0]
    assert gate.state == state
    assert reason in gate.reason


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "gates: [{metric: pas_rate, op: '>=', limit: 1}]",
            "runevals.yaml:1:18: .*no metric 'pas_rate'; did you mean 'pass_rate'",
        ),
        (
            "gates: [{metric: mark_drop, op: '<=', limit: 5}]",
            "runevals.yaml:1:.*mark_drop is a share from 0 to 1; write 0.05 for 5 %",
        ),
        pytest.param(
            "gates: [{metric: composite, op: '>=', limit: 0.8}]",
            "runevals.yaml:1:.*composite is a score from 1 to 5; the metric `share` is the same from 0 to 1",
            id="a share for a score",
        ),
        ("gates: [{metric: share, op: '>=', limit: 1}, {metric: share, op: '>=', limit: 1}]", "is used twice"),
        ("gates: [{metric: share, op: '=>', limit: 1}]", "must be one of"),
        ("fail_on: [no_regresion]", "did you mean 'no_regression'"),
    ],
)
def test_gates_that_cannot_be_meant_are_refused(tmp_path, text, told):
    from runevals.records.errors import UsageError

    (tmp_path / "runevals.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        resolve(RawSettings(cwd=tmp_path, environment={}))
