"""A statement is asked as it stands, and holds or does not."""

from __future__ import annotations

import pytest

from runevals.evaluators.judged.statement import Statement
from runevals.records import Layer, ToolCall, Verdict
from runevals.records.judgement import Judgement
from tests.evaluators.subjects import answering

WHOLE = {"statement": "Names {the} risk"}  # results keep it, whatever the id is cut to
STATEMENT = Statement(statement="Names {the} risk")


def test_the_judge_sees_statement_description_response_and_calls():
    calls = (ToolCall(name="search", input={"q": 1}),)
    question = STATEMENT.question(answering("Done.", prompt="Go", expected="A list of risks", tool_calls=calls))
    assert list(question.parts) == [
        ("STATEMENT", "Names {the} risk"),
        ("PROMPT", "Go"),
        ("DESCRIPTION OF A GOOD RESULT", "A list of risks"),
        ("RESPONSE", "Done."),
        ("TOOL CALLS", "search({'q': 1})"),
    ]
    assert (question.evaluator, STATEMENT.layer, question.scale.maximum) == ("Names {the} risk", Layer.JUDGE, 1.0)
    assert "{the}" not in question.instructions  # what an author wrote is data, never an instruction


@pytest.mark.parametrize(
    ("score", "verdict"),
    [
        (1.0, Verdict(1.0, "“risk”", WHOLE)),
        (0.0, Verdict(0.0, "“risk”", WHOLE)),
        (0.5, Verdict(0.0, "“risk”", WHOLE)),  # two judges disagree: it was not shown
        (None, Verdict(None, "“risk”")),
    ],
)
def test_it_holds_or_does_not(score, verdict):
    assert STATEMENT.verdict(Judgement(score=score, reason="“risk”")) == verdict
