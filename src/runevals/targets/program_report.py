"""What a program reports about its answer: the JSON of command and python targets → Response."""

from __future__ import annotations

import json
from collections.abc import Mapping

from runevals.lib.parsing.depth import nested_deeper
from runevals.records import Citation, Delivery, Problem, Response, ToolCall

LARGEST = 1e15
MOST_LEVELS = 100
_FIELDS = frozenset({"output", "ok", "error"})


def is_report(value: object) -> bool:
    """Whether `value` is the object form of an answer rather than an answer that happens to be JSON."""
    return isinstance(value, Mapping) and bool(_FIELDS & value.keys())


def reported(report: Mapping[str, object], latency_s: float) -> Response:
    """`{output, ok, error, costUSD, inputTokens, outputTokens, toolCalls, numTurns, …}` → Response.

    Names may be in camel or snake case; what is absent stays unknown. A malformed field makes the answer
    `target_unparseable`.
    """
    error = report.get("error")
    if report.get("ok") is False or error:
        message = error.get("message", error) if isinstance(error, Mapping) else error
        return failed("target_failed", str(message or "the target said ok: false"))
    output = report.get("output")
    if not isinstance(output, str):
        return failed("target_unparseable", "the target's 'output' is not text")
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
    """An answer that never came, and why."""
    return Response(problem=Problem(code=code, message=message))


def tool_calls(value: object) -> tuple[ToolCall, ...] | None:
    """A reported list of calls, each with `name` (or `tool`), `input` (or `args`), `output`, `ok`, or as chat
    completions write them. Raises ValueError.
    """
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError("tool calls must be a list")
    return tuple(_tool_call(told) for told in value)


def _tool_call(told: object) -> ToolCall:
    call = told if isinstance(told, dict) else {}
    if isinstance(call.get("function"), dict):
        call = {**call, **call["function"]}
    name = call.get("name", call.get("tool"))
    if not isinstance(name, str):
        raise ValueError("a tool call needs a name")
    given = call.get("input", call.get("args"))
    if given is None and "arguments" in call:
        given = arguments(call["arguments"])
    output, ok = call.get("output"), call.get("ok", call.get("success"))
    return ToolCall(
        name=name,
        input=shallow(given, "the input of a tool call"),
        output=output if output is None or isinstance(output, str) else json.dumps(output),
        ok=ok if isinstance(ok, bool) else None,
    )


def arguments(told: object) -> object:
    """A call's arguments; of a text the JSON in it, and the text itself where it is none."""
    if not isinstance(told, str):
        return told
    try:
        return json.loads(told)
    except (ValueError, RecursionError):
        return told


def shallow(value: object, what: str) -> object:
    """`value`, which reports can hold. Raises ValueError where it is nested too deep for any reader."""
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
    found = []
    for item in value:
        if isinstance(item, str):
            found.append(Citation(text=item))
        elif isinstance(item, dict):
            source = item.get("source")
            found.append(Citation(text=str(item.get("text", "")), source=None if source is None else str(source)))
        else:
            raise ValueError("a citation is text or an object")
    return tuple(found)


def _either(report: Mapping[str, object], *names: str) -> object:
    return next((report[name] for name in names if report.get(name) is not None), None)


def delivery(report: Mapping[str, object]) -> Delivery | None:
    """What a report says of a cache on the way (`responseId`, `cached`, `cachedTokens`), if it says anything."""
    response_id = _either(report, "responseId", "response_id")
    told = Delivery(
        response_id=response_id if isinstance(response_id, str) else None,
        cached_tokens=count(report, "cachedTokens", "cached_tokens"),
        from_cache=report.get("cached") is True,
    )
    return None if told == Delivery() else told


def number(report: Mapping[str, object], *names: str) -> float | None:
    """The first of these fields that is there, as a number. Raises ValueError where it is none."""
    value = _either(report, *names)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        raise ValueError(f"'{names[0]}' must be a number from 0 to {LARGEST:g}")
    return float(value)


def count(report: Mapping[str, object], *names: str) -> int | None:
    """The first of these fields that is there, as a whole number. Raises ValueError where it is none."""
    value = number(report, *names)
    if value is not None and (value < 0 or value != int(value)):
        raise ValueError(f"'{names[0]}' must be a whole number")
    return None if value is None else int(value)


def _text(report: Mapping[str, object], name: str) -> str | None:
    value = report.get(name)
    return value if isinstance(value, str) else None
