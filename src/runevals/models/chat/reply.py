"""A chat completion → one record of the reply, whatever shape its provider gives it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from runevals.lib.parsing.shapes import is_number, is_whole, list_in, object_in, text_in
from runevals.lib.text.secrets import beginning
from runevals.models.http.throttle import CallFailed, TryAgain, failure_of_status

Cut = Literal["length", "filter"]
MOST_WORDS = 500  # characters of an error, in messages
# Finish reasons of an answer that a failure cut short, as errors; DeepSeek has the second.
_FAILED_REASONS: Mapping[str, Mapping[str, Any]] = {
    "error": {"message": "the provider ended its answer with an error"},
    "insufficient_system_resource": {"code": 503, "message": "the provider was overloaded in its answer"},
}
# Finish reasons of an answer that is not whole, in lower case, and what cut it.
_CUTS: Mapping[str, Cut] = {
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(("model_context_window_exceeded", "context_length", "truncated", "pause_turn"), "length"),
    **dict.fromkeys(("content_filter", "content_filtered", "guardrail_intervened", "sensitive"), "filter"),
    **dict.fromkeys(("safety", "recitation", "blocklist", "prohibited_content", "spii", "refusal"), "filter"),
}
_THINKING = ("thinking", "reasoning", "redacted_thinking", "reference")  # parts that are no part of the answer


class RequestedCall(Struct, frozen=True):
    """A tool call of a model; `arguments` is the JSON text as received."""

    id: str
    name: str
    arguments: str


class ChatReply(Struct, frozen=True, kw_only=True):
    """A reply: text (None if the model refused), usage and model. Reasoning tokens count as output."""

    text: str | None
    finish_reason: str | None
    refusal: str | None = None
    tool_calls: tuple[RequestedCall, ...] = ()
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None = None  # as the reply has it
    latency_s: float
    response_id: str | None = None
    made_at: float | None = None  # seconds since 1970
    cached_tokens: int | None = None  # of the prompt, from the provider's cache
    written_tokens: int | None = None  # of the prompt, into the provider's cache
    from_cache: bool = False  # reported by an intermediate cache
    reasoning_tokens: int | None = None  # of the output
    items: tuple[Mapping[str, object], ...] = ()  # all that the turn brought, in the form in which it is sent back

    def as_message(self) -> dict[str, object]:
        """The turn as JSON for the message that is sent back to the model."""
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.tool_calls
        ]
        items = {"items": list(self.items)} if self.items else {}
        return {"role": "assistant", "content": self.text, "tool_calls": calls, **items}

    @property
    def cut(self) -> Cut | None:
        """What ended the answer before the model did."""
        return _CUTS.get((self.finish_reason or "").lower())


def completion_reply(completion: Any, latency_s: float, *, from_cache: bool) -> ChatReply:
    """The reply in a chat completion. Raises CallFailed, or TryAgain for an error that came with status 200."""
    if (error := _error_within(completion)) is not None:
        raise error_of(error)
    if completion["choices"] == []:
        raise CallFailed("unparseable", "the answer is a chat completion without choices")
    choice, usage = completion["choices"][0], completion.get("usage") or {}
    message, prompt = choice["message"], object_in(usage.get("prompt_tokens_details"))
    return ChatReply(
        text=joined(message.get("content"), "text"),
        refusal=text_of(message.get("refusal")) or joined(message.get("content"), "refusal") or None,
        tool_calls=tuple(_requested(*each) for each in enumerate(message.get("tool_calls") or ())),
        finish_reason=text_of(choice.get("finish_reason")),
        model=text_of(completion.get("model")),
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=_output_tokens(usage),
        cost_usd=number(usage.get("cost")),
        latency_s=latency_s,
        response_id=text_in(completion.get("id")) or None,
        made_at=number(completion.get("created")),
        cached_tokens=count(prompt.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))),  # as of DeepSeek
        reasoning_tokens=count(object_in(usage.get("completion_tokens_details")).get("reasoning_tokens")),
        from_cache=from_cache or completion.get("cached") is True,
    )


def error_of(error: Mapping[str, Any]) -> TryAgain | CallFailed:
    """The failure that an error within a body means."""
    message = beginning(str(error.get("message", "an error without a message")), MOST_WORDS)
    code = error.get("code")
    if isinstance(code, int) and code >= 400:
        return failure_of_status(code, message, {})
    return CallFailed("failed", message)


def _error_within(completion: Any) -> Mapping[str, Any] | None:
    """The error in place of an answer, or of a provider that failed before its answer was whole.

    OpenRouter sends those of the providers behind it with status 200.
    """
    place = object_in(next(iter(list_in(object_in(completion).get("choices"))), completion))
    error = place.get("error")
    return error if isinstance(error, Mapping) else _FAILED_REASONS.get(text_in(place.get("finish_reason")))


def _output_tokens(usage: Mapping[str, Any]) -> int | None:
    """All that is paid as output: some count a model's reasoning in the total only."""
    into, out, total = (count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    return out if into is None or out is None or total is None else max(out, total - into)


def joined(content: object, key: str) -> str | None:
    """What the parts of a content say under a key, without those of thinking; a plain text is one part."""
    if content is None or isinstance(content, str):
        return content if key == "text" else None
    if not isinstance(content, list):
        raise TypeError(f"text expected, not {type(content).__name__}")
    return "".join(text_of(part.get(key)) or "" for part in content if part.get("type") not in _THINKING)


def _requested(number: int, call: Any) -> RequestedCall:
    """A call; some gateways give its arguments as an object, and no id."""
    function = call["function"]
    value = function["arguments"]
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else text_of(value)
    return RequestedCall(str(call.get("id") or f"call-{number}"), text_of(function["name"]) or "", text or "")


def text_of(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"text expected, not {type(value).__name__}")
    return value


def count(value: object) -> int | None:
    """A token count; an invalid one is unknown, because the answer is still valid."""
    return value if is_whole(value) else None


def number(value: object) -> float | None:
    return float(value) if is_number(value) and 0 <= value < float("inf") else None
