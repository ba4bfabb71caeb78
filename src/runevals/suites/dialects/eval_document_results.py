"""An eval document with what was measured in its output fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from runevals.records import (
    AttemptReport,
    CaseReport,
    CheckResult,
    Outcome,
    RunReport,
    TurnReport,
)
from runevals.suites.dialects import eval_document

ERRORS_SINCE = (1, 9, 0)  # the version that has codes for evaluators that could not be run
OUTPUT_FIELDS = frozenset(
    {"response", "scores", "status", "error", "citations", "diagnostics", "conversation_id", "summary"}
)
_SCORE_KEYS = {
    "Relevance": "relevance",
    "Coherence": "coherence",
    "Groundedness": "groundedness",
    "Similarity": "similarity",
    "Citations": "citations",
    "ExactMatch": "exactMatch",
    "PartialMatch": "partialMatch",
}
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
_COUNTED = {"pass": "turns_passed", "fail": "turns_failed", "partial": "turns_partial", "error": "turns_errored"}

Json = dict[str, Any]


def filled(document: Mapping[str, Any], report: RunReport, suite: str) -> Json:
    """A versioned document with what `report` found of its items; what an earlier run left there is gone.

    Of a case with several runs it shows the first that ended as the case did. Items that were not run have none
    of these fields.
    """
    found = {case.key: case for case in report.cases if case.suite == suite and case.attempts}
    items = [_item(item, found.get(eval_document.key_of(item))) for item in document["items"]]
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


def made(report: RunReport, suite: str, *, checked_by_default: bool) -> Json:
    """The same of a suite that is not a such document: its checks stay behind, what they found is in `scores`.

    With `checked_by_default` the default evaluators are those that it was held against.
    """
    cases = [case for case in report.cases if case.suite == suite and case.attempts]
    defaults: Json = {} if checked_by_default else {"default_evaluators": {}}
    head = {"schemaVersion": eval_document.CURRENT_VERSION, **defaults}
    return filled({**head, "items": [_bare(case) for case in cases]}, report, suite)


def _bare(case: CaseReport) -> Json:
    """The item that a case of another format would be."""
    turns = [
        _known(prompt=turn.prompt, expected_response=turn.expected, context=turn.context)
        for turn in case.attempts[0].turns
    ]
    more = _known(
        category=case.category,
        tags=list(case.tags) or None,
        extensions={"runevals": {"critical": True}} if case.critical else None,
    )
    return {"testId": case.key, **more, **(turns[0] if len(turns) == 1 else {"turns": turns})}


def _item(item: Mapping[str, Any], case: CaseReport | None) -> Json:
    bare = _asked(item)
    if "turns" in item:
        bare["turns"] = [_asked(turn) for turn in item["turns"]]
    if case is None:
        return bare
    attempt = _shown(case)
    if "turns" not in item:
        return {**bare, **_outcome(attempt.turns[0])}
    if len(attempt.turns) != len(bare["turns"]):  # another conversation by the same key
        return bare
    turns = [{**turn, **_outcome(found)} for turn, found in zip(bare["turns"], attempt.turns, strict=True)]
    conversation = f"{case.suite}#{case.key}#{attempt.attempt}"  # as targets were told it
    return {**bare, "turns": turns, "conversation_id": conversation, **_summary(turns)}


def _asked(item: Mapping[str, Any]) -> Json:
    return {name: value for name, value in item.items() if name not in OUTPUT_FIELDS}


def _shown(case: CaseReport) -> AttemptReport:
    return next((attempt for attempt in case.attempts if attempt.status is case.status), case.attempts[0])


def _outcome(turn: TurnReport) -> Json:
    citations = turn.citations
    return _known(
        response=turn.output,
        citations=None
        if citations is None
        else [_known(index=n, text=c.text, source=c.source) for n, c in enumerate(citations, start=1)],
        scores=_scores(turn),
        status=_status(turn),
        error=_error(turn),
    )


def _status(turn: TurnReport) -> str | None:
    """An errored check makes it partial whatever the others found; None if nothing was looked at."""
    if turn.error is not None:
        return "error"
    outcomes = {result.outcome for result in turn.results}
    words = {Outcome.ERRORED: "partial", Outcome.FAILED: "fail", Outcome.PASSED: "pass"}
    return next((word for outcome, word in words.items() if outcome in outcomes), None)


def _error(turn: TurnReport) -> Json | None:
    if turn.error is not None:
        code = _ANSWER_CODES.get(turn.error.code, "agentRequestFailed")
        return {"code": code, "message": turn.error.message or turn.error.code}
    asked = [result for result in turn.results if result.outcome is not Outcome.SKIPPED]
    failed = sum(result.outcome is Outcome.ERRORED for result in asked)
    if not failed:
        return None
    told = f"Agent response obtained. {failed} of {len(asked)} evaluators failed to run."
    return {"code": "evaluatorsFailed", "message": told}


def _scores(turn: TurnReport) -> Json:
    """Evaluator → what it found; none of an answer that never came, and none of those that were skipped."""
    if turn.error is not None:
        return {}
    return {
        _SCORE_KEYS.get(result.id, result.id): _score(result)
        for result in turn.results
        if result.outcome is not Outcome.SKIPPED
    }


def _score(result: CheckResult) -> Json:
    if result.error is not None:
        code = _SCORE_CODES.get(result.error.code, "evaluatorError")
        return {"result": "error", "code": code, "error": result.error.message or result.error.code}
    passed = result.outcome is Outcome.PASSED
    told = _known(
        result="pass" if passed else "fail", threshold=_number(result.threshold), reason=result.reason or None
    )
    if result.evaluator == "ExactMatch":
        return {"match": passed, **told}
    return {**_known(**{"count" if result.evaluator == "Citations" else "score": _number(result.value)}), **told}


def _summary(turns: Sequence[Json]) -> Json:
    """The counts of a conversation add up to its turns; if some have no status there is none to give."""
    statuses = [turn.get("status") for turn in turns]
    if None in statuses:
        return {}
    counts = {name: statuses.count(status) for status, name in _COUNTED.items()}
    overall = next(status for status in _WORST_FIRST if status in statuses)
    return {"summary": {"turns_total": len(turns), **counts, "overall_status": overall}}


def _version(declared: str, items: Sequence[Json]) -> str:
    """The declared version, or one that can say what went wrong, where something did."""
    version = eval_document.version_of(declared)
    older = version is not None and eval_document.CLOSED_SINCE <= version < ERRORS_SINCE
    errors = any("error" in turn for item in items for turn in item.get("turns", [item]))
    return ".".join(map(str, ERRORS_SINCE)) if older and errors else declared


def _number(value: float | None) -> float | int | None:
    return int(value) if value is not None and value == int(value) else value


def _known(**values: object) -> Json:
    return {name: value for name, value in values.items() if value is not None}
