"""A judge scores whether the response answers the prompt."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import OfAnswer
from runevals.records import Layer


@evaluator("answer_relevancy")
class AnswerRelevancy(OfAnswer):
    """A judge scores 1–5 how directly the response answers the prompt; passes from 3.

    The judge sees the prompt (with what was said before, in a thread) and the response.

    Example:
        {"type": "answer_relevancy"}
    """

    layer = Layer.FACT
    rubric = """Score how directly the RESPONSE answers the PROMPT. Dodging, drifting away and padding cost points.
1: it does not answer.
2: it is about the topic but avoids the question.
3: it answers in part, or buries the answer.
4: it answers, with little that was not asked for.
5: it answers the question directly and completely."""
