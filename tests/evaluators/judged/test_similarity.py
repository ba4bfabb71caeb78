from runevals.evaluators.judged.similarity import Similarity
from runevals.records import Verdict
from tests.evaluators.subjects import answering


def test_the_judge_sees_prompt_expected_answer_and_response():
    question = Similarity().question(answering("Paris", prompt="Capital?", expected="It is Paris."))
    assert question.parts == (("PROMPT", "Capital?"), ("EXPECTED", "It is Paris."), ("RESPONSE", "Paris"))


def test_without_an_expected_answer_there_is_nothing_to_judge():
    assert Similarity().question(answering("Paris")) == Verdict.skipped("no expected answer")
