"""Composite evaluators: two modes, three aggregations."""

from __future__ import annotations

import pytest

from runevals.evaluators import catalogue
from runevals.evaluators.combined.composite import CompositeEvaluator
from runevals.evaluators.kinds import Member, Part
from runevals.evaluators.text.contains import Contains
from runevals.records import EvaluatorSpec, Outcome, Problem, Verdict
from runevals.records.errors import InvalidOptions

P, F, S, E = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.ERRORED


def parts(*found):
    reason = {E: "judge_timeout: late"}
    return [
        Part(id=f"e{n}", outcome=outcome, score=score, reason=reason.get(outcome, ""))
        for n, (outcome, score) in enumerate(found)
    ]


def composite(aggregation, number, mode="parallel", weights=None):
    members = tuple(Member(id=f"e{n}", evaluator=Contains(), threshold=None) for n in range(number))
    return CompositeEvaluator(aggregation=aggregation, mode=mode, weights=weights, members=members)


def test_the_documented_example_of_a_composite():
    """Two evaluators, and: {passed: true, score: 1.0} and {passed: true, score: 0.85} → 0.85."""
    found = composite("and", 2).combine(parts((P, 1.0), (P, 0.85)))
    assert (found.passed, found.score) == (True, 0.85)


@pytest.mark.parametrize(
    ("aggregation", "found", "passed", "score"),
    [
        ("and", ((P, 1.0), (F, 0.2)), False, 0.2),
        ("and", ((P, None), (F, None)), False, 0.0),  # without a score, its passing counts
        ("and", ((P, 0.9), (S, None)), True, 0.9),
        ("and", ((F, 0.3), (E, None)), False, 0.3),
        ("or", ((F, 0.2), (P, 0.7)), True, 0.7),
        ("or", ((F, 0.2), (F, 0.5)), False, 0.5),
        ("or", ((P, 0.7), (E, None)), True, 0.7),
        ("weighted_average", ((P, 1.0), (F, 0.2)), True, 0.6),
        ("weighted_average", ((P, 0.9), (F, 0.2)), False, 0.55),
        ("weighted_average", ((P, None), (F, None), (P, None)), True, 2 / 3),
        ("weighted_average", ((P, 0.8), (S, None)), True, 0.8),
    ],
)
def test_aggregations(aggregation, found, passed, score):
    verdict = composite(aggregation, len(found)).combine(parts(*found))
    assert verdict.passed is passed
    assert verdict.score == pytest.approx(score)


def test_weights():
    verdict = composite("weighted_average", 2, weights=(3.0, 1.0)).combine(parts((P, 1.0), (F, 0.0)))
    assert (verdict.passed, verdict.score) == (True, 0.75)


@pytest.mark.parametrize(("threshold", "passed"), [(0.75, True), (0.76, False), (None, True)])
def test_a_weighted_average_passes_from_its_threshold(threshold, passed):
    children = (EvaluatorSpec(name="contains", id="a"), EvaluatorSpec(name="contains", id="b"))
    options = {"aggregation": "weighted_average", "weights": [3.0, 1.0]}
    spec = EvaluatorSpec(name="composite", options=options, children=children, threshold=threshold)
    found = catalogue.build(spec).evaluator.combine(parts((P, 1.0), (F, 0.0)))
    assert (found.passed, found.score) == (passed, 0.75)


@pytest.mark.parametrize(
    ("aggregation", "threshold", "message"),
    [("and", 0.7, "threshold is of a weighted_average"), ("weighted_average", 0.0, "must be above 0")],
)
def test_a_threshold_that_cannot_be_used_is_refused(aggregation, threshold, message):
    child = EvaluatorSpec(name="contains")
    spec = EvaluatorSpec(
        name="composite", options={"aggregation": aggregation}, children=(child,), threshold=threshold
    )
    with pytest.raises(InvalidOptions, match=message):
        catalogue.build(spec)


@pytest.mark.parametrize("aggregation", ["and", "or", "weighted_average"])
def test_an_error_that_could_change_the_outcome_is_an_error(aggregation):
    other = (P, 1.0) if aggregation == "and" else (F, 0.0)
    assert isinstance(composite(aggregation, 2).combine(parts(other, (E, None))), Problem)
    assert composite(aggregation, 1).combine(parts((S, None))) == Verdict.skipped("every part was skipped")


def test_serial_and_stops_at_the_first_failure_and_lists_the_rest():
    serial = composite("and", 3, mode="serial")
    assert not serial.enough(parts((P, 1.0)))
    assert serial.enough(parts((P, 1.0), (F, 0.1)))
    assert serial.combine(parts((P, 1.0), (F, 0.1))).details["not_run"] == ["e2"]
    assert not composite("and", 3).enough(parts((F, 0.1)))
    assert not composite("or", 3, mode="serial").enough(parts((F, 0.1)))


@pytest.mark.parametrize(
    ("weights", "told"),
    [([1.0], "weights has 1 entries for 2 evaluators"), ([0, 0], "not all 0"), ([1, -1], "must not be negative")],
)
def test_invalid_weights_are_reported(weights, told):
    children = (EvaluatorSpec(name="contains"), EvaluatorSpec(name="ExactMatch"))
    spec = EvaluatorSpec(name="composite", options={"weights": weights}, children=children)
    with pytest.raises(InvalidOptions, match=told):
        catalogue.build(spec)
