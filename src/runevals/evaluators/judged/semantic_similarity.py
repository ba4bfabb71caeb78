"""A judge scores how close in meaning the response is to a reference."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import question
from runevals.evaluators.kinds import Judged, Subject
from runevals.records import Layer
from runevals.records.judgement import Question


@evaluator("semantic_similarity")
class SemanticSimilarity(Judged):
    """A judge scores 1–5 how close in meaning response and reference are; passes from 3.

    The judge sees the reference and the response.

    Options:
        reference: the text to come close to in meaning.

    Example:
        {"type": "semantic_similarity", "reference": "Refunds take 30 days", "threshold": 4}
    """

    layer = Layer.FACT
    rubric = """Score how close in meaning the RESPONSE is to the REFERENCE. Wording does not count.
1: it says something else.
2: it shares a little.
3: it matches in part.
4: it matches but for small points.
5: it means the same."""

    reference: str

    def question(self, subject: Subject) -> Question:
        return question(self, ("REFERENCE", self.reference), ("RESPONSE", subject.response.text))
