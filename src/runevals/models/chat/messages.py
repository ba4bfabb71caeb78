"""Anthropic's Messages API: requests from messages and parameters of chat completions, and its replies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runevals.models.chat.reply import ChatReply, RequestedCall, count, error_of, joined, text_of
from runevals.models.chat.translate import Forms, translated

# Parameters of chat completions → where the Messages API has them.
NAMES: Mapping[str, str] = {
    "max_completion_tokens": "max_tokens",
    "stop": "stop_sequences",
    "reasoning_effort": "output_config.effort",
    "response_format": "output_config.format",
}
# What the Messages API does not have; of 2026-10-21 on, no sampling either.
WITHOUT = frozenset(
    (
        *("temperature", "top_p", "top_k", "seed", "n", "presence_penalty", "frequency_penalty", "logit_bias"),
        *("logprobs", "top_logprobs", "modalities", "prediction", "audio", "functions", "function_call"),
        *("parallel_tool_calls", "verbosity"),
    )
)
MAX_TOKENS = 16_000  # which the API wants to be told; more would have to be streamed
_CACHED = {"cache_control": {"type": "ephemeral"}}
_STATUS = {  # of an error within status 200
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "billing_error": 402,
}
NO_EXPLANATION = "the model refused to answer, without an explanation"


def body(messages: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any]) -> dict[str, object]:
    """The body. What is the same for each call, tools and a fixed system prompt, is marked for the cache."""
    system = [
        {"type": "text", "text": message["content"], **(_CACHED if message.get("fixed") else {})}
        for message in messages
        if message["role"] == "system"
    ]
    sent = {
        "max_tokens": MAX_TOKENS,
        **({"system": system} if system else {}),
        "messages": list(_turns(messages)),
        **translated(parameters, NAMES, _FORMS),
    }
    if sent.get("tools") and not any("cache_control" in block for block in system):
        *others, last = sent["tools"]
        sent["tools"] = [*others, {**last, **_CACHED}]
    return sent


def _turns(messages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, object]]:
    """The turns: results of tools that follow each other are one turn, and a turn without content is none."""
    results: list[object] = []
    for message in messages:
        if message["role"] == "tool":
            result = {"tool_use_id": message["tool_call_id"], "content": message["content"]}
            results.append({"type": "tool_result", **result})
            continue
        if results:
            yield {"role": "user", "content": results}
            results = []
        content = message.get("items") or message.get("content")
        if content and message["role"] != "system":
            yield {"role": message["role"], "content": content}
    if results:
        yield {"role": "user", "content": results}


def _tool(function: Mapping[str, Any]) -> dict[str, object]:
    plain = {{"parameters": "input_schema"}.get(name, name): value for name, value in function.items()}
    return {"input_schema": {"type": "object"}, **plain}


def _choice(value: Any) -> object:
    if isinstance(value, str):
        return {"type": {"required": "any"}.get(value, value)}
    return {"type": "tool", "name": value["function"]["name"]} if "function" in value else value


_FORMS: Forms = {
    # The API's own tools stay as they are.
    "tools": lambda tools: [_tool(one["function"]) if one.get("type") == "function" else one for one in tools],
    "tool_choice": _choice,
    # Formats without a schema are left out: the API has only that.
    "response_format": lambda form: (
        {"type": "json_schema", "schema": form["json_schema"]["schema"]} if "json_schema" in form else None
    ),
    "stop": lambda stop: [stop] if isinstance(stop, str) else stop,
}


def reply(message: Mapping[str, Any], latency_s: float, *, from_cache: bool) -> ChatReply:
    """The reply in an answer. Raises CallFailed, or TryAgain for a temporary error within it."""
    if message.get("type") == "error":
        raise error_of({**message["error"], "code": _STATUS.get(message["error"].get("type"))})
    blocks, usage = message["content"], message.get("usage") or {}
    into, written, cached = (
        count(usage.get(f"{kind}input_tokens")) for kind in ("", "cache_creation_", "cache_read_")
    )
    texts = [block for block in blocks if block["type"] == "text"]
    stop = text_of(message.get("stop_reason"))
    explanation = text_of((message.get("stop_details") or {}).get("explanation"))
    return ChatReply(
        text=joined(texts, "text") if texts else None,
        refusal=(explanation or NO_EXPLANATION) if stop == "refusal" and not texts else None,
        tool_calls=tuple(
            RequestedCall(block["id"], block["name"], json.dumps(block["input"], ensure_ascii=False))
            for block in blocks
            if block["type"] == "tool_use"
        ),
        items=tuple(blocks),
        finish_reason=stop,
        model=text_of(message.get("model")),
        input_tokens=None if into is None else into + (written or 0) + (cached or 0),
        output_tokens=count(usage.get("output_tokens")),
        reasoning_tokens=count((usage.get("output_tokens_details") or {}).get("thinking_tokens")),
        cached_tokens=cached,
        written_tokens=written,
        latency_s=latency_s,
        response_id=text_of(message.get("id")),
        from_cache=from_cache,
    )
