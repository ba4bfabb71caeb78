"""The metrics beside the one that gates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runevals.records import Layer
from runevals.verdict.compare import compare
from runevals.verdict.score import over_attempts, over_turns
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
    assert set(found) == {"evaluator:ExactMatch", "evaluator:json_valid"}
    worse = found["evaluator:json_valid"]
    assert worse.drop == pytest.approx(0.2)
    assert worse.p_value < 0.0001
    assert worse.holm_p == pytest.approx(2 * worse.p_value)
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

    (metric,) = compare(run(0.55), run(0.95), "b").metrics
    assert (metric.name, round(metric.drop, 2)) == ("evaluator:ExactMatch", 0.4)
    assert metric.holm_p < 0.001
