"""A judge scores how well the response holds together."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import OfAnswer


@evaluator("Coherence")
class Coherence(OfAnswer):
    """A judge scores 1–5 how logical and well ordered the response is; passes from 3.

    The judge sees the prompt (with what was said before, in a thread) and the response.

    Example:
        "evaluators": {"Coherence": {}}
    """

    rubric = """Score how logical and well ordered the RESPONSE is. Do not score whether it is right.
1: disconnected words or sentences.
2: fragments with little connection.
3: partly ordered; the reader has to work out the connection.
4: logical and ordered.
5: clear, logical and well ordered throughout."""
