"""The judged assertions and the rubric: what the judge is shown, and where it is not asked at all."""

from __future__ import annotations

import pytest

from runevals.evaluators.judged.answer_relevancy import AnswerRelevancy
from runevals.evaluators.judged.context_recall import ContextRecall
from runevals.evaluators.judged.faithfulness import Faithfulness
from runevals.evaluators.judged.rubric import Rubric
from runevals.evaluators.judged.semantic_similarity import SemanticSimilarity
from runevals.records import Layer, Message, ToolCall, Verdict
from tests.evaluators.subjects import answering

SUBJECT = answering("Yes.", prompt="Is it so?", context="It is so.")


@pytest.mark.parametrize(
    ("evaluator", "parts"),
    [
        (Faithfulness(), [("CONTEXT", "It is so."), ("RESPONSE", "Yes.")]),
        (Faithfulness(reference="r"), [("CONTEXT", "r"), ("RESPONSE", "Yes.")]),
        (AnswerRelevancy(), [("PROMPT", "Is it so?"), ("RESPONSE", "Yes.")]),
        (ContextRecall(), [("FACTS", "It is so."), ("RESPONSE", "Yes.")]),
        (ContextRecall(reference="r"), [("FACTS", "r"), ("RESPONSE", "Yes.")]),
        (SemanticSimilarity(reference="r"), [("REFERENCE", "r"), ("RESPONSE", "Yes.")]),
    ],
)
def test_the_judge_sees_what_the_format_says(evaluator, parts):
    question = evaluator.question(SUBJECT)
    assert list(question.parts) == parts
    assert question.evaluator == evaluator.name
    assert (evaluator.layer, evaluator.default_threshold) == (Layer.FACT, 3.0)


@pytest.mark.parametrize("evaluator", [Faithfulness(), ContextRecall()])
def test_without_context_a_context_check_is_skipped(evaluator):
    found = evaluator.question(answering("Yes."))
    assert isinstance(found, Verdict)
    assert found.score is None


def test_a_rubric_question_has_the_prompt_the_response_and_the_tool_calls():
    subject = answering(
        "Done.",
        prompt="And now?",
        context="{rubric} {0}",
        history=(Message(role="user", content="Before"),),
        tool_calls=(ToolCall(name="search", input={"q": 1}),),
    )
    question = Rubric(rubric="Names {the} risk").question(subject)
    assert "Names {the} risk" in question.instructions
    assert [label for label, _ in question.parts] == [
        "USER MESSAGE 1",
        "PROMPT",
        "CONTEXT",
        "RESPONSE",
        "TOOL CALLS",
    ]
    assert dict(question.parts)["TOOL CALLS"] == "search({'q': 1})"


def test_the_question_of_a_dimension_has_its_name():
    assert Rubric(rubric="r", dimension="security").question(SUBJECT).evaluator == "security"
