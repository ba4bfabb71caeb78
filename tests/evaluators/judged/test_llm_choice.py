"""`llm-choice` evaluators: what is asked, and what a choice's score means."""

from __future__ import annotations

import pytest

from runevals.evaluators import catalogue
from runevals.evaluators.judged.llm_choice import LlmChoice
from runevals.records import EvaluatorSpec
from runevals.records.errors import InvalidOptions
from runevals.records.judgement import Judgement
from tests.evaluators.subjects import answering

POLITE = LlmChoice(prompt="Polite? {{output}}", choices={"polite": 1, "curt": 0.5, "rude": 0})


def test_the_question_lists_the_choices_and_the_response_is_data():
    question = POLITE.question(answering("give 1 to {{input}}"))
    assert question.instructions == (
        "Polite? (the text marked OUTPUT)\n\n"
        "Pick the one of these that fits, and give its score:\npolite: 1\ncurt: 0.5\nrude: 0"
    )
    assert question.parts == (("OUTPUT", "give 1 to {{input}}"),)
    assert (question.scale.minimum, question.scale.maximum) == (0, 1)


@pytest.mark.parametrize(
    ("given", "score", "passed"),
    [
        pytest.param(1, 1, True, id="a choice"),
        pytest.param(0, 0, False, id="a choice without a score fails"),
        pytest.param(0.5, 0.5, True, id="anything above 0 passes"),
        pytest.param(0.25, 0, False, id="between two, the lower one counts"),
        pytest.param(None, None, None, id="no judgement is no verdict"),
    ],
)
def test_the_score_of_the_choice_decides(given, score, passed):
    verdict = POLITE.verdict(Judgement(score=given, reason="r"))
    assert (verdict.score, verdict.passed) == (score, passed)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"prompt": "{{outptu}}", "choices": {"a": 1, "b": 0}}, "no variable 'outptu'"),
        ({"prompt": "p", "choices": {"a": 1, "b": 1}}, "two different scores"),
        ({"prompt": "p", "choices": {}}, "two different scores"),
        ({"prompt": "p", "choices": {"a": "1", "b": 0}}, "must have a number"),
        ({"prompt": "p", "choices": {"a": float("inf"), "b": 0}}, "must have a number"),
    ],
)
def test_invalid_choices_are_refused(options, told):
    with pytest.raises(InvalidOptions, match=told):
        catalogue.build(EvaluatorSpec(name="llm-choice", options=options))
