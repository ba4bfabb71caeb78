"""A judge scores whether the response keeps to its context."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import question
from runevals.evaluators.kinds import Judged, Subject
from runevals.records import Layer, Problem, Verdict
from runevals.records.judgement import Question


@evaluator("faithfulness")
class Faithfulness(Judged):
    """A judge scores 1–5 how far the context supports what the response states; passes from 3.

    The judge sees the case's context, or `reference` in its place, and the response.

    Options:
        reference: a text to hold the response against instead of the context.

    Example:
        "context": "Refunds take 30 days.", "assertions": [{"type": "faithfulness", "threshold": 4}]
    """

    layer = Layer.FACT
    rubric = """Score how far the CONTEXT supports what the RESPONSE states. What you know yourself does not count.
1: it contradicts the context or makes things up.
2: most of what it states is not in the context.
3: the main points are in the context, some details are not.
4: all but small details are in the context.
5: everything it states is in the context."""
    label = "CONTEXT"
    without = "no context to hold the response against"

    reference: str | None = None

    def question(self, subject: Subject) -> Question | Verdict | Problem:
        context = self.reference if self.reference is not None else subject.context
        if context is None:
            return Verdict.skipped(self.without)
        return question(self, (self.label, context), ("RESPONSE", subject.response.text))
