"""Spans in the conventions of OpenTelemetry for generative AI → tool calls, tokens, cost and turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runevals.lib.nullable import total, whole_total, without_none
from runevals.lib.parsing.json_forms import json_in
from runevals.lib.parsing.shapes import is_whole, list_in, objects_in
from runevals.models.chat.prices import Prices
from runevals.programs.otlp_spans import Span
from runevals.records import ToolCall
from runevals.targets.program_report import LARGEST, output_text, shallow

OPERATION = "gen_ai.operation.name"
MODEL_CALLS = ("chat", "text_completion", "generate_content")
TOOL_CALL = "execute_tool"
MOST_LEVELS = 100  # of spans within spans
_CALLS_TOOLS = ("tool_call", "tool_calls", "tool_use")  # reasons why a model's message ends


def evidence(spans: Sequence[Span], prices: Prices) -> Mapping[str, Any]:
    """The fields of a response that `spans` give; those of other libraries are ignored. Raises ValueError."""
    in_order = sorted(spans, key=lambda span: span.started_at)
    by_id = {span.id: span for span in spans}
    of_models = [span for span in in_order if span.attributes.get(OPERATION) in MODEL_CALLS]
    # A framework and its client both report a call: the innermost span of a model counts, the outermost of a tool.
    around = {ancestor.id for span in of_models for ancestor in _ancestors(span, by_id)}
    models = [span for span in of_models if span.id not in around]
    calls = [span for span in in_order if span.attributes.get(OPERATION) == TOOL_CALL]
    tool_of = {span.id: _tool(span) for span in calls}
    tools = [span for span in calls if all(tool_of.get(one.id) != _tool(span) for one in _ancestors(span, by_id))]
    if not models and not tools:
        return {}
    return without_none(
        tool_calls=tuple(map(_tool_call, tools)) or _calls_in_messages(models),
        turns=len(models) or None,
        input_tokens=whole_total(_tokens(span, "input", "prompt") for span in models),
        output_tokens=whole_total(_tokens(span, "output", "completion") for span in models),
        cost_usd=total(_cost_usd(span, prices) for span in models),
        model=next((model for span in reversed(models) if (model := _model(span))), None),
    )


def _ancestors(span: Span, by_id: Mapping[str, Span]) -> Iterator[Span]:
    for _ in range(MOST_LEVELS):
        parent = by_id.get(span.parent)
        if parent is None:
            return
        span = parent
        yield span


def _tool(span: Span) -> str:
    return str(span.attributes.get("gen_ai.tool.name") or span.name.removeprefix(f"{TOOL_CALL} "))


def _tool_call(span: Span) -> ToolCall:
    return ToolCall(
        name=_tool(span),
        input=shallow(json_in(span.attributes.get("gen_ai.tool.call.arguments")), "the input of a tool call"),
        output=output_text(span.attributes.get("gen_ai.tool.call.result")),
        ok=not (span.failed or "error.type" in span.attributes),
        duration_s=span.duration_s,
    )


def _calls_in_messages(models: Sequence[Span]) -> tuple[ToolCall, ...] | None:
    """The calls that the models asked for; None if they asked for some that their messages do not have."""
    results = {
        part.get("id"): part.get("response", part.get("result"))
        for span in models
        for part in _parts(span, "gen_ai.input.messages", "tool_call_response")
    }
    calls: list[ToolCall] = []
    for span in models:
        parts = list(_parts(span, "gen_ai.output.messages", "tool_call"))
        reasons = span.attributes.get("gen_ai.response.finish_reasons")
        if not parts and any(reason in _CALLS_TOOLS for reason in list_in(reasons)):
            return None
        calls += [
            ToolCall(
                name=str(part.get("name")),
                input=shallow(json_in(part.get("arguments")), "the input of a tool call"),
                output=output_text(results.get(part.get("id"))),
            )
            for part in parts
        ]
    return tuple(calls)


def _parts(span: Span, name: str, kind: str) -> Iterator[Mapping[str, object]]:
    """The parts of this kind in the messages of an attribute, which are JSON or an array of maps."""
    for message in objects_in(json_in(span.attributes.get(name))):
        yield from (part for part in objects_in(message.get("parts")) if part.get("type") == kind)


def _tokens(span: Span, *names: str) -> int | None:
    """A number of tokens, under its present or its former name. Raises ValueError for another value."""
    for name in names:
        count = span.attributes.get(f"gen_ai.usage.{name}_tokens")
        if count is not None:
            if not is_whole(count) or not 0 <= count <= LARGEST:
                what = f"gen_ai.usage.{name}_tokens must be a whole number up to {LARGEST:g}"
                raise ValueError(f"{what}, but is {str(count)[:40]}")
            return count
    return None


def _model(span: Span) -> str | None:
    model = span.attributes.get("gen_ai.response.model") or span.attributes.get("gen_ai.request.model")
    return model if isinstance(model, str) else None


def _cost_usd(span: Span, prices: Prices) -> float | None:
    counts = _tokens(span, "input", "prompt"), _tokens(span, "output", "completion")
    return prices.cost_usd(_model(span), *counts, cached_tokens=_tokens(span, "cache_read.input"))
