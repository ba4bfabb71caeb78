"""A judge scores the response by the author's own rubric."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import conversation, short_trace
from runevals.evaluators.kinds import Judged, Subject
from runevals.records.judgement import Question

INSTRUCTIONS = """Score how well the RESPONSE meets this rubric:

{rubric}

1: it misses the rubric altogether.
2: it meets little of it.
3: it meets it in part.
4: it meets it but for small points.
5: it meets it fully."""


@evaluator("rubric")
class Rubric(Judged):
    """A judge scores 1–5 how well the response meets a rubric; passes from 3.

    The judge sees the rubric, the prompt, the case's context, the response, and a summary of the tool calls.

    Options:
        rubric: what a good answer does.
        dimension: the name of the dimension that this rubric is about, if there are several.

    Example:
        "rubric": "Should identify the SQL injection and recommend parameterized queries"
    """

    rubric: str  # type: ignore[misc] # of the author here, not of the class
    dimension: str | None = None

    def question(self, subject: Subject) -> Question:
        context = () if subject.context is None else (("CONTEXT", subject.context),)
        return Question(
            evaluator=self.name if self.dimension is None else self.dimension,
            instructions=INSTRUCTIONS.format(rubric=self.rubric),
            parts=(*conversation(subject), *context, ("RESPONSE", subject.response.text), *short_trace(subject)),
        )
