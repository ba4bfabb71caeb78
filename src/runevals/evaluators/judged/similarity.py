"""A judge scores how close the response comes to the expected one."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import conversation, question
from runevals.evaluators.kinds import Judged, Subject
from runevals.records import Problem, Verdict
from runevals.records.judgement import Question


@evaluator("Similarity")
class Similarity(Judged):
    """A judge scores 1–5 how close in meaning response and expected answer are; passes from 3.

    The judge sees the prompt, the expected answer and the response.

    Example:
        "expected_response": "Within 30 days", "evaluators": {"Similarity": {"threshold": 4}}
    """

    rubric = """Score how close in meaning the RESPONSE is to the EXPECTED answer to the PROMPT.
1: it says something else.
2: it shares a little of the expected answer.
3: it matches the expected answer in part.
4: it matches the expected answer but for small points.
5: it means the same as the expected answer."""
    needs_expected = True

    def question(self, subject: Subject) -> Question | Verdict | Problem:
        if subject.expected is None:
            return Verdict.skipped("no expected answer")
        return question(
            self, *conversation(subject), ("EXPECTED", subject.expected), ("RESPONSE", subject.response.text)
        )
