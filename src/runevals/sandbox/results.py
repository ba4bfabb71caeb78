"""The output of a child → an answer, checked strictly: its text comes from the grader and is untrusted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any

from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.parsing.shapes import is_number, text_in
from runevals.lib.parsing.strict_json import finite, nested_deeper, refuse_constant
from runevals.records.script import Answer, Call

MOST_REASON = 2000
MOST_LOGS = 16 * 1024
MOST_DEEP = 64
_MISSING = object()
_ERRORS = frozenset({
    "evaluator_bad_result", "evaluator_crashed", "evaluator_forbidden", "evaluator_memory",
    "evaluator_missing_module", "evaluator_no_json", "evaluator_syntax",
})  # fmt: skip
_SIGNALS = {
    4: "an illegal instruction", 6: "abort", 7: "a bus error", 8: "a bad sum", 9: "SIGKILL",
    11: "a bad memory access",
}  # fmt: skip


def answer_of(call: Call, reply: bytes) -> Answer:
    """The worker's reply to `call` as an answer; what does not follow the contract is an error with its reason.

    The worker's own words come first, as JSON; after a tab, those of the grader.
    """
    try:
        head, _, raw = reply.partition(b"\t")
        header: Any = json.loads(head)
        status, duration_s = header["status"], float(header["duration_s"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return Answer(error="evaluator_bad_result", reason="the worker's answer cannot be read")
    try:
        answer = _by_status(call, header, raw.decode("ascii", "replace"), status, duration_s)
    except (ValueError, TypeError, OverflowError, RecursionError, AttributeError) as error:
        answer = _broken(type(error).__name__, duration_s)
    if call.kind == "skill" and not header.get("loaded"):  # then the skill was not called
        reason = "it took too long" if status == "late" else answer.reason
        return replace(answer, error="evaluator_syntax", reason=reason)
    return answer


def _by_status(call: Call, header: Any, raw: str, status: str, duration_s: float) -> Answer:
    match status:
        case "answered":
            return _answer_from(call, raw, duration_s)
        case "late":
            return timed_out(call.timeout_s)
        case "too_large":
            return _broken("result too large: more than 1 MiB", duration_s)
        case _:
            how = _SIGNALS.get(header.get("signal"), "ending the process")
            return Answer(
                error="evaluator_crashed", reason=f"it ended without an answer, by {how}", duration_s=duration_s
            )


def timed_out(timeout_s: float) -> Answer:
    """The answer for a call that timed out."""
    reason = f"evaluation timed out after {timeout_s:g} s"
    return Answer(error="evaluator_timeout", reason=reason, duration_s=timeout_s)


def _answer_from(call: Call, raw: str, duration_s: float) -> Answer:
    try:
        fields = json.loads(raw, parse_constant=refuse_constant, parse_float=finite)
    except (ValueError, RecursionError):
        return _broken("it is not JSON", duration_s)
    if not isinstance(fields, dict):
        return _broken("it is not an object", duration_s)
    if nested_deeper(fields, MOST_DEEP):
        return _broken(f"it is nested deeper than {MOST_DEEP}", duration_s)
    logs = text_in(fields.get("logs"))[:MOST_LOGS]
    error = fields.get("error")
    if error is not None:
        if text_in(error) not in _ERRORS:
            return _broken("it is not an object", duration_s)
        reason = (
            "it needed more memory than a grader may use" if error == "evaluator_memory" else fields.get("reason")
        )
        return Answer(error=error, reason=_shortened(reason), duration_s=duration_s, logs=logs)
    answer = _CONTRACTS[call.kind](fields.get("value"))
    if isinstance(answer, str):
        answer = _broken(answer, duration_s)
    return replace(answer, duration_s=duration_s, logs=logs)


def _broken(text: str, duration_s: float) -> Answer:
    reason = _shortened(f"result does not follow the contract: {text}")
    return Answer(error="evaluator_bad_result", reason=reason, duration_s=duration_s)


def grade(value: object) -> Answer | str:
    """`{passed: true or false, score?: 0–1, reason?: text, details?: object}`."""
    if not isinstance(value, dict):
        return f"it must be an object with 'passed', not {_kind(value)}"
    passed, score = value.get("passed", _MISSING), value.get("score")
    reason, details = value.get("reason"), value.get("details")
    if passed is _MISSING:
        return "'passed' is missing"
    if not isinstance(passed, bool):
        return f"'passed' must be true or false, not {_kind(passed)}"
    if score is not None and not is_number(score):
        return f"'score' must be a number from 0 to 1, not {_kind(score)}"
    if score is not None and not 0 <= score <= 1:
        return f"'score' must be from 0 to 1, but is {str(score)[:20]}"
    if not isinstance(reason, str | None):
        return f"'reason' must be text, not {_kind(reason)}"
    if not isinstance(details, dict | None):
        return f"'details' must be an object, not {_kind(details)}"
    return Answer(passed=passed, score=if_known(float, score), reason=_shortened(reason), details=details or {})


def _assertion(value: object) -> Answer | str:
    """`true`, `false`, or `{pass: true or false, message?: text}`."""
    if isinstance(value, bool):
        return Answer(passed=value, score=float(value))
    if not isinstance(value, dict) or "pass" not in value:
        return f"it must be true, false or an object with 'pass', not {_kind(value)}"
    passed, message = value["pass"], value.get("message")
    if not isinstance(passed, bool):
        return f"'pass' must be true or false, not {_kind(passed)}"
    if not isinstance(message, str | None):
        return f"'message' must be text, not {_kind(message)}"
    return Answer(passed=passed, score=float(passed), reason=_shortened(message))


_CONTRACTS: Mapping[str, Callable[[object], Answer | str]] = {
    "evaluator": grade,
    "assertion": _assertion,
    "skill": lambda value: Answer(value=value),
}


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    names: Mapping[type, str] = {
        NoneType: "nothing",
        str: "text",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), type(value).__name__)


def _shortened(text: object) -> str:
    return str(text)[:MOST_REASON] if text is not None else ""
