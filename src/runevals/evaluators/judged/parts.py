"""What judges are shown of a turn."""

from __future__ import annotations

from runevals.evaluators.kinds import Judged, Question, Subject


def conversation(subject: Subject) -> tuple[tuple[str, str], ...]:
    """The prompt; for a later turn of a thread, every message before it too, each marked by itself."""
    before = [
        (f"{message.role.upper()} MESSAGE {number}", message.content)
        for number, message in enumerate(subject.history, start=1)
    ]
    return (*before, ("PROMPT", subject.prompt))


def question(evaluator: Judged, *parts: tuple[str, str]) -> Question:
    """The evaluator's rubric, asked about labelled data."""
    return Question(evaluator=evaluator.name, instructions=evaluator.rubric, parts=parts)
