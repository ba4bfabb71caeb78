"""Layers, composites, statuses and totals, by hand-worked values."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Layer, Outcome
from runevals.verdict.score import layer_scores, over_attempts, over_turns, pooled, status_of, without_checks
from runevals.verdict.totals import totals
from tests.sample_reports import LETTERS, attempt, case, check, report

P, F, E, S = (LETTERS[letter] for letter in "pfes")


def checks(*outcomes, **more):
    return [check(outcome, **more) for outcome in outcomes]


def test_three_checks_two_pass_is_3_67():
    assert layer_scores(checks(P, P, F)).fact == pytest.approx(1 + 4 * 2 / 3)


def test_weights_count():
    results = [check(P, weight=1.0), check(P, weight=1.0), check(F, weight=0.5)]
    assert layer_scores(results).fact == pytest.approx(1 + 4 * 2 / 2.5)


def test_the_judge_layer_is_the_mean_of_its_scores():
    results = [check(P, layer=Layer.JUDGE, score=0.75), check(F, layer=Layer.JUDGE, score=0.25)]
    assert layer_scores(results).judge == pytest.approx(3.0)


def test_errored_and_skipped_checks_leave_both_sums():
    found = layer_scores(checks(P, F, E, S))
    assert found.fact == pytest.approx(3.0)
    assert found.incomplete == (Layer.FACT,)
    assert layer_scores(checks(S)).fact is None


@pytest.mark.parametrize(
    ("outcomes", "status"), [((P, F, E), F), ((P, E, S), E), ((P, S), P), ((S, S), S), ((), S)]
)
def test_the_status_of_a_case(outcomes, status):
    assert status_of(checks(*outcomes)) is status


def test_the_composite_is_the_mean_of_the_layers_present():
    turn = attempt(1, P).turns[0]
    results = (*checks(P, F), check(P, layer=Layer.JUDGE, score=1.0))
    found = over_turns(1, [replace(turn, results=results)])
    assert found.composite == pytest.approx((3.0 + 5.0) / 2)
    assert found.share == pytest.approx(0.75)
    assert found.graded
    assert found.value == found.share


def test_an_answer_that_never_came_makes_the_attempt_errored_whatever_else_failed():
    failed, missing = attempt(1, F).turns[0], attempt(1, E).turns[0]
    assert over_turns(1, [failed, missing]).status is Outcome.ERRORED


def test_a_case_has_the_status_of_the_greater_half_of_its_measured_attempts():
    for letters, status, rate in (
        ("ppf", P, 2 / 3),
        ("pff", F, 1 / 3),
        ("pf", P, 0.5),
        ("ee", E, None),
        ("fee", F, 0.0),
    ):
        found = over_attempts(case("a", "p"), case("a", letters).attempts)
        assert (found.status, found.pass_rate) == (status, rate)


def test_totals_count_cases_and_rate_attempts():
    found = totals([case("a", "ppf"), case("b", "e"), case("c", "s"), case("d", "f")])
    assert (found.passed, found.failed, found.errored, found.skipped) == (1, 1, 1, 1)
    assert found.pass_rate == pytest.approx(2 / 5)
    assert found.composite == pytest.approx(((5 + 5 + 1) / 3 + 1) / 2)


def test_costs_are_unknown_as_soon_as_one_answer_does_not_tell():
    told = case("a", "p")
    assert totals([told, told]).cost_usd == pytest.approx(0.002)
    silent = replace(told.attempts[0], turns=(replace(told.attempts[0].turns[0], cost_usd=None),))
    assert totals([told, replace(told, attempts=(silent,))]).cost_usd is None


def test_the_latency_of_nineteen_in_twenty():
    def taking(seconds):
        made = case("a", "p")
        turn = replace(made.attempts[0].turns[0], latency_s=seconds)
        return replace(made, attempts=(replace(made.attempts[0], turns=(turn,)),))

    assert totals([taking(float(n)) for n in range(1, 101)]).latency_p95_s == 95.0
    assert totals([taking(3.0)]).latency_p95_s == 3.0


def test_pooling_adds_attempts_of_equal_content_and_renumbers():
    newest, older = report({"a": "pf", "b": "p"}), report([case("a", "ff"), case("b", "f", fingerprint="x")])
    found = pooled(newest, [older])
    assert [a.attempt for a in found.cases[0].attempts] == [1, 2, 3, 4]
    assert found.cases[0].pass_rate == 0.25
    assert found.cases[1].pass_rate == 1.0


def test_without_a_layer_a_case_is_as_if_it_had_no_such_check():
    made = case("a", "p")
    turn = replace(made.attempts[0].turns[0], results=(check(P), check(F, layer=Layer.JUDGE, score=0.0)))
    failing = over_attempts(made, [over_turns(1, [turn])])
    assert failing.status is F
    found = without_checks(failing, lambda result: result.layer is Layer.JUDGE)
    assert (found.status, found.composite, found.layers.judge) == (P, 5.0, None)
