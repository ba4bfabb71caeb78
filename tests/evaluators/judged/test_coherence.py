from runevals.evaluators.judged.coherence import Coherence
from tests.evaluators.subjects import answering


def test_the_judge_sees_prompt_response_and_instructions():
    question = Coherence().question(answering("Paris", prompt="Capital?"))
    assert question.parts == (("PROMPT", "Capital?"), ("RESPONSE", "Paris"))
    assert "well ordered" in question.instructions
    assert (question.scale.minimum, question.scale.maximum) == (1.0, 5.0)
