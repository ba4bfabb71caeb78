"""A judge scores how much of the context the response uses."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import question
from runevals.evaluators.kinds import Judged, Subject
from runevals.records import Layer, Problem, Verdict
from runevals.records.judgement import Question

RUBRIC = """Score how many of the key facts in the FACTS the RESPONSE uses correctly.
1: none.
2: few.
3: about half.
4: most.
5: all."""


@evaluator("context_recall")
class ContextRecall(Judged):
    """A judge scores 1–5 how many key facts of the context the response uses; passes from 3.

    The judge sees the facts – `reference`, otherwise the case's context – and the response.

    Options:
        reference: the facts that matter, if not the whole context matters.

    Example:
        {"type": "context_recall", "reference": "30 days; receipt needed"}
    """

    layer = Layer.FACT
    rubric = RUBRIC

    reference: str | None = None

    def question(self, subject: Subject) -> Question | Verdict | Problem:
        facts = self.reference if self.reference is not None else subject.context
        if facts is None:
            return Verdict.skipped("no context and no reference")
        return question(self, ("FACTS", facts), ("RESPONSE", subject.response.text))
