"""Verdict of an evaluator → the check's result: label, threshold, outcome, cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from numbers import Real

from msgspec import Struct
from msgspec.structs import replace

from runevals.evaluators.catalogue import BuiltCheck
from runevals.evaluators.kinds import Evaluator, Judged
from runevals.lib.nullable import if_known, total
from runevals.lib.record_from import record_from
from runevals.records import NEVER_SENT_CODES, NOTHING, CheckResult, Outcome, Problem, Scale, Verdict
from runevals.records.judgement import Judgement

_ROUNDING = 1e-6  # by which a score may leave its scale, as a cosine of single precision does
LARGEST_SCORE = 1e100  # as in results documents: sums and squares of such are numbers too


class CheckOutcome(Struct, frozen=True):
    """A verdict or a problem of one evaluator, with the judgements it used."""

    result: Verdict | Problem
    judgements: tuple[Judgement, ...] = ()
    logs: str = ""  # of code that ended in a problem


def outcome_of(verdict: Verdict, evaluator: Evaluator, threshold: float | None, *, negated: bool) -> Outcome:
    """Passed, failed or, with nothing to judge, skipped; `negated` turns the first two round."""
    passed = verdict.passed
    if passed is None:
        if verdict.score is None:
            return Outcome.SKIPPED
        bar = evaluator.scale.maximum if threshold is None else threshold
        passed = bar is None or verdict.score >= bar
    return Outcome.PASSED if passed is not negated else Outcome.FAILED


def share_of(verdict: Verdict, evaluator: Evaluator) -> float | None:
    """The verdict's score as a share of the evaluator's scale."""
    return if_known(evaluator.scale.share, verdict.score)


def of_plugin(outcome: CheckOutcome, evaluator: Evaluator) -> CheckOutcome:
    """What a plugin's evaluator returned, with a plain number as its score; a problem if it breaks the contract.

    Comparing numbers of other libraries gives neither True nor False, so that they would always pass.
    """
    result: object = outcome.result
    if isinstance(result, Problem):
        return outcome
    if not isinstance(result, Verdict):
        return _bad_result(outcome, f"it returned {type(result).__name__}, not a Verdict")
    score: object = result.score
    if score is not None and not isinstance(score, Real):
        return _bad_result(outcome, f"its score is {type(score).__name__}, not a number")
    number = if_known(lambda value: _on_scale(float(value), evaluator.scale), score)
    if number is not None and not evaluator.scale.holds(number):
        return _bad_result(outcome, f"its score, {number:g}, is not on its scale, {evaluator.scale}")
    if not any(result.passed is allowed for allowed in (None, True, False)):
        return _bad_result(outcome, f"'passed' must be True, False or None, not {type(result.passed).__name__}")
    if not isinstance(result.reason, str):
        return _bad_result(outcome, f"its reason is {type(result.reason).__name__}, not text")
    try:
        json.dumps(dict(result.details))
    except (TypeError, ValueError, RecursionError) as error:
        return _bad_result(outcome, f"its details are not JSON: {error}")
    return replace(outcome, result=replace(result, score=number))


def _on_scale(score: float, scale: Scale) -> float:
    """The score; the end of the scale if it is beyond that by a rounding error only."""
    nearest = max(scale.minimum, score if scale.maximum is None else min(score, scale.maximum))
    return nearest if abs(score - nearest) <= _ROUNDING else score


def _bad_result(outcome: CheckOutcome, reason: str) -> CheckOutcome:
    problem = Problem(code="evaluator_bad_result", message=f"result does not follow the contract: {reason}")
    return replace(outcome, result=problem)


def measured(check: BuiltCheck, verdict: Verdict, judgements: Sequence[Judgement]) -> CheckResult:
    """What a verdict means for this check, with its label, threshold and sign."""
    if verdict.score is not None and not abs(verdict.score) <= LARGEST_SCORE:
        return errored(check, Problem(code="evaluator_bad_result", message="the score is not a number"))
    evaluator, share = check.evaluator, share_of(verdict, check.evaluator)
    return record_from(
        CheckResult,
        check,
        evaluator=evaluator.name,
        outcome=outcome_of(verdict, evaluator, check.threshold, negated=check.negated),
        score=share if share is None or not check.negated else 1.0 - share,
        value=verdict.score,
        scale=evaluator.scale.range,
        reason=verdict.reason,
        details={**verdict.details, **_votes(evaluator, judgements)} or NOTHING,
        judge_model=_models(judgements),
        cost_usd=_cost(judgements),
        cached=bool(judgements) and all(judgement.cached for judgement in judgements),
    )


def errored(check: BuiltCheck, problem: Problem, outcome: CheckOutcome | None = None) -> CheckResult:
    """A check without a verdict; `outcome` None: there was no answer to check."""
    evaluator, of_outcome = check.evaluator, outcome or CheckOutcome(problem)
    return record_from(
        CheckResult,
        check,
        evaluator=evaluator.name,
        outcome=Outcome.SKIPPED if outcome is None and problem.code in NEVER_SENT_CODES else Outcome.ERRORED,
        scale=evaluator.scale.range,
        reason=problem.message,
        details={"logs": of_outcome.logs} if of_outcome.logs else {},
        error=problem,
        judge_model=_models(of_outcome.judgements),
        cost_usd=_cost(of_outcome.judgements),
    )


def failed(check: BuiltCheck, problem: Problem) -> CheckResult:
    """A check of an attempt that failed before it could be looked at; a negated one fails, too."""
    scale, result = check.evaluator.scale, errored(check, problem)
    least = scale.minimum
    return replace(result, outcome=Outcome.FAILED, score=scale.share(least), value=least, error=None)


def nothing_measured(result: CheckResult) -> CheckResult:
    """A skipped check as an error: it should have been measured."""
    return replace(result, outcome=Outcome.ERRORED, error=Problem(code="evidence_missing", message=result.reason))


def _models(judgements: Sequence[Judgement]) -> str | None:
    return ", ".join(sorted({judgement.model for judgement in judgements if judgement.model is not None})) or None


def _cost(judgements: Sequence[Judgement]) -> float | None:
    return total([each.cost_usd for each in judgements if each.model is not None])


def _votes(evaluator: Evaluator, judgements: Sequence[Judgement]) -> dict[str, object]:
    """The single votes behind a judged evaluator's median."""
    votes = [vote for judgement in judgements for vote in judgement.votes]
    if not votes or not isinstance(evaluator, Judged):
        return {}
    details: dict[str, object] = {"votes": [vote.score for vote in votes]}
    judges = [vote.judge for vote in votes]
    return details if len(set(judges)) == 1 else {**details, "judges": judges}
