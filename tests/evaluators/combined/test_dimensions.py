"""Dimensions: each judged by itself, the mean on 1–5 counts."""

from __future__ import annotations

import pytest

from runevals.evaluators import catalogue
from runevals.evaluators.combined.dimensions import Dimensions
from runevals.evaluators.kinds import Part
from runevals.records import EvaluatorSpec, Layer, Outcome, Problem


def part(name, score, outcome=Outcome.PASSED):
    share = None if score is None else (score - 1) / 4
    return Part(id=name, outcome=outcome, score=share, reason="judge_failed: down")


def test_the_mean_counts_and_each_is_shown():
    found = Dimensions().combine([part("security", 5), part("actionability", 2, Outcome.FAILED)])
    assert found.score == pytest.approx(3.5)
    assert found.reason == "security 5, actionability 2"


def test_a_dimension_without_a_judgement_is_an_error():
    found = Dimensions().combine([part("a", 5), part("b", None, Outcome.ERRORED)])
    assert isinstance(found, Problem)
    assert found.code == "judge_failed"


def test_dimensions_are_in_the_judge_layer_and_pass_from_three():
    child = EvaluatorSpec(name="rubric", options={"rubric": "r", "dimension": "d"})
    built = catalogue.build(EvaluatorSpec(name="dimensions", children=(child,)))
    evaluator, threshold = built.evaluator, built.threshold
    assert (catalogue.layer_of(evaluator), threshold) == (Layer.JUDGE, 3.0)
