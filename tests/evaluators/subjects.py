"""Subjects for evaluator tests."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from runevals.evaluators import catalogue
from runevals.evaluators.kinds import Check, Evaluator, Scripted, Subject
from runevals.records import Citation, EvaluatorSpec, Message, Problem, Response, ToolCall, Verdict
from runevals.records.errors import InvalidOptions
from runevals.records.script import Answer
from runevals.sandbox import Sandbox

# The answer of a target that does not report its tool calls.
NOT_REPORTED = Subject(prompt="A question?", response=Response(text="OK"))


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


def called(*calls: ToolCall, skills: tuple[str, ...] | None = None) -> Subject:
    """A turn whose answer came with these tool calls."""
    return Subject(prompt="A question?", response=Response(text="OK", tool_calls=calls, skills=skills))


def checked(name: str, options: Mapping[str, object], subject: Subject) -> bool | None:
    """Whether a check of this name passes; None where the evidence is missing."""
    evaluator = catalogue.build(EvaluatorSpec(name=name, options=options)).evaluator
    assert isinstance(evaluator, Check)
    verdict = evaluator.check(subject)
    if isinstance(verdict, Problem):
        assert verdict.code == "evidence_missing"
        return None
    assert verdict.score in (0.0, 1.0)
    return verdict.score == 1.0


def refused(name: str, options: Mapping[str, object]) -> str:
    """What is said of options that cannot be used."""
    with pytest.raises(InvalidOptions) as problem:
        catalogue.build(EvaluatorSpec(name=name, options=options))
    return str(problem.value)
