"""The parts of a turn in a judge's prompt."""

from __future__ import annotations

from runevals.evaluators.kinds import Judged, Subject
from runevals.lib.text.numbers import limited
from runevals.records.judgement import Question

MOST_CALLS = 30


def conversation(subject: Subject) -> tuple[tuple[str, str], ...]:
    """The prompt; for a later turn of a thread, every message before it too, each marked by itself."""
    history = [
        (f"{message.role.upper()} MESSAGE {number}", message.content)
        for number, message in enumerate(subject.history, start=1)
    ]
    return (*history, ("PROMPT", subject.prompt))


class OfAnswer(Judged):
    """Asks about the response to the prompt."""

    def question(self, subject: Subject) -> Question:
        return question(self, *conversation(subject), ("RESPONSE", subject.response.text))


def question(evaluator: Judged, *parts: tuple[str, str]) -> Question:
    """A question with the evaluator's rubric about labelled data."""
    return Question(evaluator=evaluator.name, instructions=evaluator.rubric, parts=parts)


def short_trace(subject: Subject) -> tuple[tuple[str, str], ...]:
    """The tool calls, one per line, if the target reports them."""
    calls = subject.response.tool_calls
    if not calls:
        return ()
    lines = limited(calls, MOST_CALLS, lambda call: f"{call.name}({str(call.input)[:200]})")
    return (("TOOL CALLS", "\n".join(lines)),)
