"""The metrics beside the one that gates."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Layer, State
from runevals.verdict.compare import compare
from runevals.verdict.score import over_attempts, over_turns
from runevals.verdict.wording import other_metrics
from tests.sample_reports import LETTERS, case, check, report


def two_checks(key, first, second):
    made = case(key, first)
    attempts = []
    for number, (one, other) in enumerate(zip(first, second, strict=True), start=1):
        results = (check(LETTERS[one]), check(LETTERS[other], id="json_valid", evaluator="json_valid"))
        turn = replace(made.attempts[0].turns[0], results=results)
        attempts.append(over_turns(number, [turn]))
    return over_attempts(made, attempts)


def test_each_evaluator_is_tested_and_corrected_for_their_number():
    base = report([two_checks(f"k{n}", "ppp", "ppp") for n in range(30)])
    head = report([two_checks(f"k{n}", "ppp", "fff" if n < 6 else "ppp") for n in range(30)])
    found = {metric.name: metric for metric in compare(head, base, "b").metrics}
    assert set(found) == {"share", "evaluator:ExactMatch", "evaluator:json_valid"}
    worse = found["evaluator:json_valid"]
    assert worse.loss == pytest.approx(0.2)
    assert worse.p_value < 0.0001
    assert worse.holm_p == pytest.approx(3 * worse.p_value)
    assert found["evaluator:ExactMatch"].holm_p == 1.0


def test_with_one_evaluator_there_is_nothing_beside_the_verdict():
    assert compare(report({"a": "ppp"}), report({"a": "ppp"}), "b").metrics == ()


def test_where_scores_gate_the_pass_rate_stands_beside_them():
    made = report({f"k{n}": [0.9, 0.9, 0.9] for n in range(10)})
    assert [metric.name for metric in compare(made, made, "b").metrics] == ["pass_rate"]


def test_a_judge_that_is_not_comparable_is_not_tested():
    judged = check(LETTERS["p"], id="Relevance", layer=Layer.JUDGE, score=1.0)
    made = case("a", "p")
    turn = replace(made.attempts[0].turns[0], results=(check(LETTERS["p"]), judged))
    one = report([over_attempts(made, [over_turns(1, [turn])])])
    other = replace(one, run=replace(one.run, judge=replace(one.run.target, model="other")))
    assert "evaluator:Relevance" not in [metric.name for metric in compare(one, other, "b").metrics]


def test_a_score_that_falls_without_failing_is_told_of_the_only_evaluator_too():
    def run(score):
        found = []
        for key in range(30):
            made = case(f"k{key}", "p")
            turn = replace(made.attempts[0].turns[0], results=(check(LETTERS["p"], score=score, threshold=0.5),))
            found.append(over_attempts(made, [over_turns(1, [turn])]))
        return report(found)

    compared = compare(run(0.55), run(0.95), "b")
    assert other_metrics(compared) == [
        "the score of ExactMatch is worse: 95.0 % → 55.0 % (p < 0.0001, corrected for 2 metrics)"
    ]
    metric, _pass_rate = compared.metrics
    assert (metric.name, round(metric.loss, 2)) == ("evaluator:ExactMatch", 0.4)
    assert metric.holm_p < 0.001


def took(seconds, dollars, *, deterministic=False):
    """A run of 30 cases, whose answers took so long and so much for each number of a case."""
    found = []
    for number in range(30):
        made = case(f"k{number}", "pp")
        turn = replace(made.attempts[0].turns[0], latency_s=seconds(number), cost_usd=dollars(number))
        found.append(over_attempts(made, [replace(one, turns=(turn,)) for one in made.attempts]))
    made = report(found)
    return replace(made, run=replace(made.run, target=replace(made.run.target, deterministic=deterministic)))


def test_what_answers_take_is_tested_case_by_case_and_told():
    base = took(lambda number: 1 + number / 10, lambda number: 0.002)
    head = took(lambda number: 1.2 + number / 10, lambda number: 0.002 if number % 2 else 0.0019)
    found = compare(head, base, "b")
    slower, cheaper = found.metrics
    assert (slower.name, slower.unit, slower.cases) == ("latency", "seconds", 30)
    assert slower.loss == pytest.approx(0.2)
    assert slower.p_value == pytest.approx(2**-30)
    assert slower.holm_p == pytest.approx(2 * slower.p_value)
    assert (cheaper.name, cheaper.unit, cheaper.holm_p) == ("cost", "usd", 1.0)
    assert cheaper.loss < 0
    assert other_metrics(found) == [
        "latency is worse: 2.5 s a run → 2.6 s a run (p < 0.0001, corrected for 2 metrics)"
    ]
    assert found.state is State.NOT_WORSE


def test_a_target_that_always_answers_alike_may_be_slower_all_the_same():
    base, head = (took(lambda _, s=s: s, lambda _: None, deterministic=True) for s in (0.1, 0.2))
    (slower,) = compare(head, base, "b").metrics
    assert (slower.name, slower.base_mean, slower.head_mean) == ("latency", 0.1, 0.2)


@pytest.mark.parametrize(("before", "now"), [(0.002, 0.04), (4.0, 4.1)])
def test_a_rise_in_latency_that_nobody_notices_is_not_told(before, now):
    base, head = (took(lambda number, s=s: s + number / 1000, lambda _: None) for s in (before, now))
    found = compare(head, base, "b")
    assert found.metrics[0].holm_p < 0.0001
    assert other_metrics(found) == []


def test_runs_that_do_not_say_what_they_took_are_left_out():
    def run(seconds):
        made = took(lambda _: seconds, lambda _: None)
        mute = [replace(turn, latency_s=None) for turn in made.cases[0].attempts[0].turns]
        one, two = made.cases[0].attempts
        long = replace(two, turns=(*two.turns, *two.turns))  # a conversation takes as long as all of its turns
        cases = (
            over_attempts(made.cases[0], [replace(one, turns=tuple(mute)), two]),
            over_attempts(made.cases[1], [replace(one, turns=tuple(mute)), long]),
            *made.cases[2:],
        )
        return replace(made, cases=cases)

    (slower,) = compare(run(2.0), run(1.0), "b").metrics
    assert (slower.name, slower.cases) == ("latency", 30)
    assert slower.base_mean == pytest.approx(31 / 30)
