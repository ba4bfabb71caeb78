"""A judge scores how well the response addresses the prompt."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import OfAnswer


@evaluator("Relevance")
class Relevance(OfAnswer):
    """A judge scores 1–5 how well the response addresses the prompt; passes from 3.

    The judge sees the prompt (with what was said before, in a thread) and the response.

    Example:
        "evaluators": {"Relevance": {"threshold": 4}}
    """

    rubric = """Score how well the RESPONSE addresses the PROMPT.
1: it has nothing to do with the prompt.
2: it is on the topic but does not help.
3: it addresses the prompt in part.
4: it addresses the prompt fully.
5: it addresses the prompt fully and adds what the asker needs to use the answer."""
