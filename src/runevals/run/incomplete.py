"""Answers that are cut or empty: what passes because something is missing is not measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from msgspec.structs import replace

from runevals.evaluators.catalogue import BuiltCheck
from runevals.evaluators.kinds import Judged, Subject, leaves
from runevals.lib.nullable import if_known
from runevals.records import CheckResult, Outcome, Problem, Response
from runevals.run.check_result import CheckOutcome, errored

_SOMETHING = ("a", "7", "\N{SNOWMAN}")  # short answers of different kinds
_REASONS = {"length": "the limit of its length", "filter": "the provider's content filter"}


def incomplete(response: Response) -> Problem | None:
    """What an answer lacks: it was cut, or has no visible character and nothing else; None for others."""
    cut = if_known(attrgetter("cut"), response.delivery)
    if cut is not None:
        return Problem(code="answer_cut", message=f"the answer was cut by {_REASONS.get(cut, cut)}")
    others = (response.value, response.raised, response.workspace, response.conversation)
    is_empty = not response.text.strip() and not response.tool_calls and others.count(None) == len(others)
    return Problem(code="empty_response", message="the answer is empty") if is_empty else None


def with_text(subject: Subject, text: str) -> Subject:
    """A turn as if it had been answered with this text alone."""
    calls = None if subject.response.tool_calls is None else ()
    return replace(subject, response=replace(subject.response, text=text, tool_calls=calls, value=None))


def settled(
    problem: Problem,
    checks: Sequence[BuiltCheck],
    results: tuple[CheckResult, ...],
    of_text: Callable[[BuiltCheck, str], CheckResult],
) -> tuple[CheckResult, ...]:
    """The results of an incomplete answer: a check that passes without any answer, too, is not measured.

    Except where the case asks for an empty answer, by a check that only such an answer passes. `of_text` is a
    check's result for another answer.
    """
    passes = [  # those that look at the answer, not at what was left in a folder
        not any(evaluator.needs_workspace for evaluator in leaves(check.evaluator))
        and of_text(check, "").outcome is Outcome.PASSED
        for check in checks
    ]
    if problem.code == "empty_response" and any(
        all(of_text(check, text).outcome is Outcome.FAILED for text in _SOMETHING)
        for check, passed in zip(checks, passes, strict=True)
        if passed and not isinstance(check.evaluator, Judged)
    ):
        return results
    missing = replace(problem, message=f"{problem.message}, and this check passes without an answer, too")
    return tuple(
        errored(check, missing, CheckOutcome(missing))
        if passed and result.outcome is Outcome.PASSED
        else _explained(result, problem)
        for check, result, passed in zip(checks, results, passes, strict=True)
    )


def _explained(result: CheckResult, problem: Problem) -> CheckResult:
    """A failed check, with what its answer lacks."""
    if result.outcome is not Outcome.FAILED or problem.code != "answer_cut":
        return result
    return replace(result, reason=f"{result.reason} ({problem.message})")
