"""An eval document with what was measured in its output fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from runevals.lib.nullable import without, without_none
from runevals.records import CaseReport, CheckResult, Outcome, RunReport, TurnReport
from runevals.suites.dialects import checking, eval_document, rows

ERRORS_SINCE = (1, 9, 0)  # the version that has codes for evaluators that could not be run
OUTPUT_FIELDS = frozenset(
    {"response", "scores", "status", "error", "citations", "diagnostics", "conversation_id", "summary"}
)
_SCORED = ("Relevance", "Coherence", "Groundedness", "Similarity", "Citations", "ExactMatch", "PartialMatch")
_SCORE_KEYS = {name: name[0].lower() + name[1:] for name in _SCORED}
_ANSWER_CODES = {
    "target_timeout": "agentTimeout",
    "target_auth": "agentAuthenticationError",
    "target_rate_limited": "agentRateLimited",
    "target_unparseable": "agentResponseUnparseable",
    "turn_skipped": "turnSkipped",
}
_SCORE_CODES = {
    "empty_response": "emptyAgentResponse",
    "judge_timeout": "judgeTimeout",
    "judge_auth": "judgeAuthenticationError",
    "judge_rate_limited": "judgeRateLimited",
    "judge_unparseable": "judgeOutputUnparseable",
    "evaluator_syntax": "evaluatorLoadError",
    "evaluator_missing_module": "evaluatorLoadError",
    "evaluator_bad_result": "invalidEvaluatorResult",
}
_WORST_FIRST = ("error", "partial", "fail", "pass")
_COUNT_NAMES = {
    "pass": "turns_passed",
    "fail": "turns_failed",
    "partial": "turns_partial",
    "error": "turns_errored",
}

Json = dict[str, Any]


def fill_results(document: Mapping[str, Any], report: RunReport, suite: str) -> Json:
    """A versioned document with the results of `report`; results of an earlier run are removed.

    For a case with several attempts, it shows the first with the outcome of the case. Items that were not run
    have no results.
    """
    cases = {case.key: case for case in report.cases if case.suite == suite and case.attempts}
    keys = checking.numbered_keys(map(eval_document.key_of, document["items"]))
    items = [_item(item, cases.get(key)) for item, key in zip(document["items"], keys, strict=True)]
    run = {
        "evaluatedAt": report.run.started_at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "cliVersion": f"runevals {report.tool_version}",
    }
    return {
        **{name: value for name, value in document.items() if name != "items"},
        "schemaVersion": _version(document["schemaVersion"], items),
        "metadata": {**document.get("metadata", {}), **run},
        "items": items,
    }


def results_document(report: RunReport, suite: str, dialect: str) -> Json:
    """Results as a document, for a suite in another format: with the results of its checks in `scores`.

    Of the checks it has those of rows, whose names say all, and none of other formats.
    """
    cases = [case for case in report.cases if case.suite == suite and case.attempts]
    results = (result for case in cases for turn in case.attempts[0].turns for result in turn.results)
    checks: Json = {result.id: {} for result in results if dialect == rows.NAME}
    defaults: Json = {} if dialect == eval_document.NAME else {"default_evaluators": checks}
    head = {"schemaVersion": eval_document.CURRENT_VERSION, **defaults}
    return fill_results({**head, "items": [_bare(case) for case in cases]}, report, suite)


def _bare(case: CaseReport) -> Json:
    """The item that a case of another format would be."""
    turns = [
        without_none(prompt=turn.prompt, expected_response=turn.expected, context=turn.context)
        for turn in case.attempts[0].turns
    ]
    optional = without_none(
        category=case.category,
        tags=list(case.tags) or None,
        extensions={"runevals": {"critical": True}} if case.critical else None,
    )
    return {"testId": case.key, **optional, **(turns[0] if len(turns) == 1 else {"turns": turns})}


def _item(item: Mapping[str, Any], case: CaseReport | None) -> Json:
    bare = _without_results(item)
    if "turns" in item:
        bare["turns"] = [_without_results(turn) for turn in item["turns"]]
    if case is None:
        return bare
    attempt = next((one for one in case.attempts if one.status is case.status), case.attempts[0])
    if "turns" not in item:
        return {**bare, **_outcome(attempt.turns[0])}
    if len(attempt.turns) != len(bare["turns"]):  # another conversation by the same key
        return bare
    turns = [{**turn, **_outcome(result)} for turn, result in zip(bare["turns"], attempt.turns, strict=True)]
    conversation = f"{case.suite}#{case.key}#{attempt.attempt}"  # as sent to targets
    return {**bare, "turns": turns, "conversation_id": conversation, **_summary(turns)}


def _without_results(item: Mapping[str, Any]) -> Json:
    return without(item, OUTPUT_FIELDS)


def _outcome(turn: TurnReport) -> Json:
    citations = turn.citations
    answer: Json = without_none(
        response=turn.output,
        citations=None
        if citations is None
        else [without_none(index=n, text=c.text, source=c.source) for n, c in enumerate(citations, start=1)],
    )
    if turn.error is None:
        return answer | without_none(scores=_scores(turn), status=_status(turn), error=_error(turn))
    code = _ANSWER_CODES.get(turn.error.code, "agentRequestFailed")
    error = {"code": code, "message": turn.error.message or turn.error.code}
    return {**answer, "scores": {}, "status": "error", "error": error}


def _status(turn: TurnReport) -> str | None:
    """The status of an answer: an errored check makes it partial; None if nothing was checked."""
    outcomes = {result.outcome for result in turn.results}
    words = {Outcome.ERRORED: "partial", Outcome.FAILED: "fail", Outcome.PASSED: "pass"}
    return next((word for outcome, word in words.items() if outcome in outcomes), None)


def _error(turn: TurnReport) -> Json | None:
    results = [result for result in turn.results if result.outcome is not Outcome.SKIPPED]
    failed = sum(result.outcome is Outcome.ERRORED for result in results)
    if not failed:
        return None
    message = f"Agent response obtained. {failed} of {len(results)} evaluators failed to run."
    return {"code": "evaluatorsFailed", "message": message}


def _scores(turn: TurnReport) -> Json:
    """Evaluator → score; without skipped checks."""
    return {
        _SCORE_KEYS.get(result.id, result.id): _score(result)
        for result in turn.results
        if result.outcome is not Outcome.SKIPPED
    }


def _score(result: CheckResult) -> Json:
    if result.error is not None:
        code = _SCORE_CODES.get(result.error.code, "evaluatorError")
        return {"result": "error", "code": code, "error": result.error.message or result.error.code}
    has_passed = result.outcome is Outcome.PASSED
    score = without_none(
        result="pass" if has_passed else "fail", threshold=_number(result.threshold), reason=result.reason or None
    )
    if result.evaluator == "ExactMatch":
        return {"match": has_passed, **score}
    return {
        **without_none(**{"count" if result.evaluator == "Citations" else "score": _number(result.value)}),
        **score,
    }


def _summary(turns: Sequence[Json]) -> Json:
    """The counts over the turns of a conversation, which must add up; empty if a turn has no status."""
    statuses = [turn.get("status") for turn in turns]
    if None in statuses:
        return {}
    counts = {name: statuses.count(status) for status, name in _COUNT_NAMES.items()}
    overall = next(status for status in _WORST_FIRST if status in statuses)
    return {"summary": {"turns_total": len(turns), **counts, "overall_status": overall}}


def _version(declared: str, items: Sequence[Json]) -> str:
    """The declared version, or a newer one if errors must be represented."""
    version = eval_document.version_of(declared)
    older = version is not None and eval_document.CLOSED_SINCE <= version < ERRORS_SINCE
    errors = any("error" in turn for item in items for turn in item.get("turns", [item]))
    return ".".join(map(str, ERRORS_SINCE)) if older and errors else declared


def _number(value: float | None) -> float | int | None:
    return int(value) if value is not None and value == int(value) else value
