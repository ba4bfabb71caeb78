"""A judge decides whether a statement about the result holds."""

from __future__ import annotations

from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import conversation, short_trace
from runevals.evaluators.kinds import Judged, Subject
from runevals.evaluators.text.blank import is_blank
from runevals.records import Verdict, cut_name, one_line
from runevals.records.judgement import Judgement, Question
from runevals.records.outcome import PASS_OR_FAIL

INSTRUCTIONS = """Decide whether the STATEMENT is true of the RESPONSE, and of the TOOL CALLS if there are any.

1: it is true, and you can quote the words or the call that show it.
0: it is false, or nothing shows that it is true.

Give 1 or 0, nothing between. Quote the evidence in your reasoning."""


@evaluator("statement")
class Statement(Judged):
    """A judge decides whether a statement is true of the response: yes or no, with the evidence quoted.

    The judge sees the statement, the prompt, the expected text as a description of a good result, the response,
    and a summary of the tool calls. Assertions and expectations of Agent Skills become one such check each. A
    recorded judge knows it by the first 80 characters of the statement.

    Options:
        statement: what must be true.

    Example:
        "evaluators": {"statement": {"statement": "The summary names all three risks"}}
    """

    rubric = INSTRUCTIONS
    scale = PASS_OR_FAIL
    default_threshold = None

    statement: str

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if is_blank(self.statement):
            yield "statement", "statement is blank; write what must be true"

    def question(self, subject: Subject) -> Question:
        expected = () if subject.expected is None else (("DESCRIPTION OF A GOOD RESULT", subject.expected),)
        return Question(
            evaluator=cut_name(one_line(self.statement)),
            instructions=INSTRUCTIONS,
            parts=(
                ("STATEMENT", self.statement),
                *conversation(subject),
                *expected,
                ("RESPONSE", subject.response.text),
                *short_trace(subject),
            ),
            scale=PASS_OR_FAIL,
        )

    def verdict(self, answer: Judgement) -> Verdict:
        if answer.score is None:
            return Verdict(None, answer.reason)
        return Verdict(float(answer.score > 0.5), answer.reason, {"statement": self.statement})
