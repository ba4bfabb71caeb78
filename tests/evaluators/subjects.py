"""Subjects for evaluator tests."""

from __future__ import annotations

from runevals.evaluators.kinds import Evaluator, Scripted, Subject
from runevals.lib.sandbox import Sandbox
from runevals.records import Citation, Message, Response, ToolCall, Verdict
from runevals.records.script import Answer


def answering(
    text: str,
    *,
    prompt: str = "A question?",
    expected: str | None = None,
    context: str | None = None,
    history: tuple[Message, ...] = (),
    citations: tuple[Citation, ...] | None = None,
    tool_calls: tuple[ToolCall, ...] | None = None,
) -> Subject:
    """A turn whose answer is `text`."""
    response = Response(text=text, citations=citations, tool_calls=tool_calls)
    return Subject(prompt=prompt, response=response, expected=expected, context=context, history=history)


def run(evaluator: Scripted, subject: Subject, sandbox: Sandbox) -> Verdict | Answer:
    """What a scripted evaluator comes to in a real worker; the answer itself where it is an error."""
    call = evaluator.call(subject)
    if isinstance(call, Verdict):
        return call
    answer = sandbox.run(call)
    return answer if answer.error else evaluator.verdict(answer)


def passes(evaluator: Evaluator, verdict: Verdict | Answer) -> bool:
    """Whether a verdict reaches the evaluator's default threshold."""
    assert isinstance(verdict, Verdict), verdict
    assert verdict.score is not None, verdict
    bar = evaluator.scale.maximum if evaluator.default_threshold is None else evaluator.default_threshold
    assert bar is not None
    return verdict.score >= bar
