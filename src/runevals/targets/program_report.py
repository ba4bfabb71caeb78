"""What a program reports about its answer: the JSON of command and python targets → Response."""

from __future__ import annotations

import json
from collections.abc import Mapping

from runevals.lib.nullable import if_known, known
from runevals.lib.parsing.json_forms import json_in
from runevals.lib.parsing.shapes import is_number, object_in
from runevals.lib.parsing.strict_json import nested_deeper
from runevals.lib.text.suggest import MISSPELT, nearest
from runevals.models.http.throttle import TryAgain, failure_of_status
from runevals.records import Citation, Delivery, Problem, Response, ToolCall

LARGEST = 1e15
MOST_LEVELS = 100
_FIELDS = frozenset({"output", "ok", "error"})
_ONLY_HERE = frozenset(
    {"toolCalls", "tool_calls", "costUSD", "cost_usd", "inputTokens", "outputTokens", "numTurns"}
)


def is_report(value: object) -> bool:
    """Whether `value` is the object form of an answer rather than an answer that happens to be JSON.

    So is one whose `output` is misspelt, beside a field that only this form has.
    """
    if not isinstance(value, Mapping):
        return False
    if _FIELDS & value.keys():
        return True
    return bool(_ONLY_HERE & value.keys()) and nearest("output", value, least=MISSPELT) is not None


def response_from(report: Mapping[str, object], latency_s: float) -> Response:
    """`{output, ok, error, costUSD, inputTokens, outputTokens, toolCalls, numTurns, …}` → Response.

    Names may be in camel or snake case; a missing field stays unknown. A malformed field makes the answer
    `target_unparseable`. Raises TryAgain as `failed_by`.
    """
    error = report.get("error")
    if report.get("ok") is False or error:
        details = error if isinstance(error, Mapping) else {"message": error}
        return failed_by(details, str(details.get("message", error) or "the target reported ok: false"))
    if not isinstance(report.get("ok"), bool | None):
        return failed("target_unparseable", "the target's 'ok' is neither true nor false")
    output = report.get("output")
    if not isinstance(output, str):
        guess = None if "output" in report else nearest("output", report, least=MISSPELT)
        why = "is not text" if guess is None else f"is missing; did you mean it by '{guess}'?"
        return failed("target_unparseable", f"the target's 'output' {why}")
    try:
        return Response(
            text=output,
            tool_calls=tool_calls(_either(report, "toolCalls", "tool_calls")),
            skills=skills(report.get("skills")),
            citations=citations(report.get("citations")),
            cost_usd=number(report, "costUSD", "cost_usd"),
            input_tokens=count(report, "inputTokens", "input_tokens"),
            output_tokens=count(report, "outputTokens", "output_tokens"),
            turns=count(report, "numTurns", "turns"),
            latency_s=latency_s,
            model=_text(report, "model"),
            delivery=delivery(report),
        )
    except ValueError as problem:
        return failed("target_unparseable", str(problem))


def failed(code: str, message: str) -> Response:
    """A response without an answer, and why."""
    return Response(problem=Problem(code=code, message=message))


def failed_by(error: Mapping[str, object], message: str) -> Response:
    """The response to an error. Raises TryAgain if its `status` is the HTTP status of a temporary one."""
    status = error.get("status")
    if isinstance(status, int) and 400 <= status < 600:
        failure = failure_of_status(status, message, {"Retry-After": str(error.get("retry_after"))})
        if isinstance(failure, TryAgain):
            raise failure
    return failed("target_failed", message)


def tool_calls(value: object) -> tuple[ToolCall, ...] | None:
    """A reported list of calls, each with `name` (or `tool`), `input` (or `args`), `output`, `ok`, or as chat
    completions write them. Raises ValueError.
    """
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError("tool calls must be a list")
    return tuple(_tool_call(call) for call in value)


def _tool_call(value: object) -> ToolCall:
    call = object_in(value)
    if isinstance(call.get("function"), dict):
        call = {**call, **call["function"]}
    name = call.get("name", call.get("tool"))
    if not isinstance(name, str):
        raise ValueError("a tool call needs a name")
    input_ = call.get("input", call.get("args"))
    if input_ is None and "arguments" in call:
        input_ = json_in(call["arguments"])
    ok = call.get("ok", call.get("success"))
    return ToolCall(
        name=name,
        input=shallow(input_, "the input of a tool call"),
        output=output_text(call.get("output")),
        ok=ok if isinstance(ok, bool) else None,
    )


def output_text(output: object) -> str | None:
    """The output of a tool call as text: JSON for what is neither text nor missing."""
    return output if output is None or isinstance(output, str) else json.dumps(output)


def shallow(value: object, what: str) -> object:
    """`value`. Raises ValueError if it is nested too deep for a report."""
    if nested_deeper(value, MOST_LEVELS):
        raise ValueError(f"{what} is nested deeper than {MOST_LEVELS} levels")
    return value


def skills(value: object) -> tuple[str, ...] | None:
    """The reported names of skills that could be loaded. Raises ValueError."""
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("skills must be a list of names")
    return tuple(value)


def citations(value: object) -> tuple[Citation, ...] | None:
    """A reported list of citations: texts, or objects with `text` and `source`. Raises ValueError."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError("citations must be a list")
    sources = []
    for item in value:
        if isinstance(item, str):
            sources.append(Citation(text=item))
        elif isinstance(item, dict):
            sources.append(Citation(text=str(item.get("text", "")), source=if_known(str, item.get("source"))))
        else:
            raise ValueError("a citation is text or an object")
    return tuple(sources)


def _either(report: Mapping[str, object], *names: str) -> object:
    return next(iter(known(map(report.get, names))), None)


def delivery(report: Mapping[str, object]) -> Delivery | None:
    """The cache fields of a report (`responseId`, `cached`, `cachedTokens`), or None."""
    response_id = _either(report, "responseId", "response_id")
    values = Delivery(
        response_id=response_id if isinstance(response_id, str) else None,
        cached_tokens=count(report, "cachedTokens", "cached_tokens"),
        from_cache=report.get("cached") is True,
    )
    return None if values == Delivery() else values


def number(report: Mapping[str, object], *names: str) -> float | None:
    """The first of these fields that is present, as a number. Raises ValueError if it is not a number."""
    value = _either(report, *names)
    if value is None:
        return None
    if not is_number(value) or not 0 <= value <= LARGEST:
        raise ValueError(f"'{names[0]}' must be a number from 0 to {LARGEST:g}")
    return float(value)


def count(report: Mapping[str, object], *names: str) -> int | None:
    """The first of these fields that is present, as an integer. Raises ValueError if it is not one."""
    value = number(report, *names)
    if value is not None and value != int(value):
        raise ValueError(f"'{names[0]}' must be a whole number")
    return if_known(int, value)


def _text(report: Mapping[str, object], name: str) -> str | None:
    value = report.get(name)
    return value if isinstance(value, str) else None
