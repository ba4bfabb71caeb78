from runevals.evaluators.judged.relevance import Relevance
from runevals.records import Message, Verdict
from runevals.records.judgement import Judgement
from tests.evaluators.subjects import answering


def test_the_judge_sees_prompt_and_response():
    question = Relevance().question(answering("Paris", prompt="Capital?", expected="hidden"))
    assert question.parts == (("PROMPT", "Capital?"), ("RESPONSE", "Paris"))
    assert question.evaluator == "Relevance"


def test_in_a_conversation_the_judge_sees_the_earlier_turns():
    history = (Message(role="user", content="Hi"), Message(role="assistant", content="Hello"))
    question = Relevance().question(answering("Paris", prompt="Capital?", history=history))
    assert question.parts == (
        ("USER MESSAGE 1", "Hi"),
        ("ASSISTANT MESSAGE 2", "Hello"),
        ("PROMPT", "Capital?"),
        ("RESPONSE", "Paris"),
    )


def test_the_verdict_is_the_score_of_the_judge():
    assert Relevance().verdict(Judgement(score=4.0, reason="to the point")) == Verdict(4.0, "to the point")
