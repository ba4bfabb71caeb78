"""A judge scores how much of the context the response uses."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.faithfulness import Faithfulness


@evaluator("context_recall")
class ContextRecall(Faithfulness):
    """A judge scores 1–5 how many key facts of the context the response uses; passes from 3.

    The judge sees the facts – `reference`, otherwise the case's context – and the response.

    Options:
        reference: the facts that matter, if not the whole context matters.

    Example:
        {"type": "context_recall", "reference": "30 days; receipt needed"}
    """

    rubric = """Score how many of the key facts in the FACTS the RESPONSE uses correctly.
1: none.
2: few.
3: about half.
4: most.
5: all."""
    label = "FACTS"
    without = "no context and no reference"
