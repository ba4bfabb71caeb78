"""What judges are shown of a turn."""

from __future__ import annotations

from runevals.evaluators.kinds import Judged, Question, Subject


def conversation(subject: Subject) -> str:
    """The prompt; for a later turn of a thread, everything said before it too."""
    if not subject.history:
        return subject.prompt
    lines = [f"{message.role}: {message.content}" for message in subject.history]
    return "\n".join([*lines, f"user: {subject.prompt}"])


def question(evaluator: Judged, *parts: tuple[str, str]) -> Question:
    """The evaluator's rubric, asked about labelled data."""
    return Question(evaluator=evaluator.name, instructions=evaluator.rubric, parts=parts)
