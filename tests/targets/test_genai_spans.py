"""What spans of the GenAI conventions say of an answer."""

from __future__ import annotations

import json

import pytest

from runevals.models.chat.prices import Price, Prices
from runevals.programs.otlp_spans import Span
from runevals.records import ToolCall
from runevals.targets.genai_spans import evidence

PRICES = Prices(own={"m": Price(input=1e6, output=2e6)})


def span(id_, operation=None, parent="", *, failed=None, at=0.0, **attributes):
    named = {f"gen_ai.{name.replace('__', '.')}": value for name, value in attributes.items()}
    operations = {} if operation is None else {"gen_ai.operation.name": operation}
    return Span(id=id_, parent=parent, started_at=at, duration_s=0.5, failed=failed, attributes=operations | named)


def chat(id_, parent="", **more):
    counts = {"usage__input_tokens": 3, "usage__output_tokens": 2, "response__model": "m"}
    return span(id_, "chat", parent, **{**counts, **more})


def tool(id_, name, parent="", **more):
    return span(id_, "execute_tool", parent, tool__name=name, **more)


def says(**fields):
    """What the spans of an answer say."""
    return fields


def message(*parts):
    return json.dumps([{"role": "assistant", "parts": parts}])


ASKS = message({"type": "tool_call", "id": "1", "name": "Look", "arguments": {"at": "x"}}, {"type": "text"})
GETS = message({"type": "tool_call_response", "id": "1", "response": {"found": 1}})
TABLE = {
    "an agent with two model calls and a tool between them": (
        [
            span("a", "invoke_agent", usage__input_tokens=6),
            chat("c", "a", at=3.0),
            tool("b", "Read", "a", at=2.0, tool__call__arguments='{"path": "a"}', tool__call__result="text"),
            chat("d", "a", at=1.0),
            span("e", at=1.5),
        ],
        says(
            tool_calls=(ToolCall(name="Read", input={"path": "a"}, output="text", ok=True, duration_s=0.5),),
            turns=2,
            input_tokens=6,
            output_tokens=4,
            cost_usd=14.0,
            model="m",
        ),
    ),
    "a framework and its client report the same calls": (
        [chat("a"), chat("b", "x"), span("x", parent="a"),
         tool("c", "T"), tool("d", "T", "c"), tool("e", "U", "d")],
        says(
            tool_calls=tuple(ToolCall(name=name, ok=True, duration_s=0.5) for name in ("T", "U")),
            turns=1,
            input_tokens=3,
            output_tokens=2,
            cost_usd=7.0,
            model="m",
        ),
    ),
    "a tool that failed, by status or by its type of error": (
        [tool("a", "T", failed=True), Span(id="b", name="execute_tool U", attributes={
            "gen_ai.operation.name": "execute_tool", "error.type": "timeout"})],
        says(tool_calls=(
            ToolCall(name="T", ok=False, duration_s=0.5), ToolCall(name="U", ok=False, duration_s=0.0))),
    ),
    "calls in messages": (
        [chat("a", output__messages=ASKS), chat("b", at=1.0, input__messages=GETS)],
        says(
            tool_calls=(ToolCall(name="Look", input={"at": "x"}, output='{"found": 1}'),),
            turns=2, input_tokens=6, output_tokens=4, cost_usd=14.0, model="m",
        ),
    ),
    "calls that were made, but not which": (
        [chat("a", response__finish_reasons=["tool_calls"])],
        says(turns=1, input_tokens=3, output_tokens=2, cost_usd=7.0, model="m"),
    ),
    "no calls": (
        [chat("a", response__finish_reasons=["stop"], usage__input_tokens=None)],
        says(tool_calls=(), turns=1, output_tokens=2, model="m"),
    ),
    "the former names of tokens": (
        [span("a", "chat", usage__prompt_tokens=4, usage__completion_tokens=1, request__model="m")],
        says(tool_calls=(), turns=1, input_tokens=4, output_tokens=1, cost_usd=6.0, model="m"),
    ),
    "parents in a circle": (
        [tool("a", "T", "b"), span("b", parent="c"), span("c", parent="b")],
        says(tool_calls=(ToolCall(name="T", ok=True, duration_s=0.5),)),
    ),
    "spans of other libraries": ([span("a"), span("b", "embeddings")], says()),
    "nothing": ([], says()),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_spans_become_evidence(name):
    spans, expected = TABLE[name]
    assert evidence(spans, PRICES) == expected


@pytest.mark.parametrize("count", [-1, True, "7", 1.5, 10**400])
def test_tokens_that_are_not_a_number_are_an_error(count):
    with pytest.raises(ValueError, match="input_tokens must be a whole number"):
        evidence([chat("a", usage__input_tokens=count)], PRICES)
