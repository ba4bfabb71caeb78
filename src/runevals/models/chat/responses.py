"""OpenAI's Responses API: requests from messages and parameters of chat completions, and its replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runevals.models.chat.reply import ChatReply, RequestedCall, count, error_of, joined, number, text_of
from runevals.models.chat.translate import translated

# Parameters of chat completions → where the Responses API has them.
NAMES: Mapping[str, str] = {
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
    "verbosity": "text.verbosity",
    "response_format": "text.format",
}
# What the Responses API does not have.
WITHOUT = frozenset(
    (
        *("seed", "stop", "n", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "modalities"),
        *("prediction", "audio", "functions", "function_call", "web_search_options"),
    )
)
_STATUS = {"rate_limit_exceeded": 429, "server_error": 500}  # of an error within a response


def body(messages: Sequence[Mapping[str, object]], parameters: Mapping[str, Any]) -> dict[str, object]:
    """The body. Nothing is stored: what a model thought before its tool calls is sent back to it, encrypted."""
    sent = {
        "input": [item for message in messages for item in _items(message)],
        "store": False,
        **translated(parameters, NAMES, _FORMS),
    }
    if "tools" in sent:
        sent.setdefault("include", ["reasoning.encrypted_content"])
    return sent


def _items(message: Mapping[str, Any]) -> Iterator[object]:
    """One message as items of the input; a turn of the model as the model gave it."""
    match message:
        case {"items": [*items]}:
            yield from items
        case {"role": "tool"}:
            yield {
                "type": "function_call_output",
                "call_id": message["tool_call_id"],
                "output": message["content"],
            }
        case _:
            yield {"role": message["role"], "content": message.get("content") or ""}


def _flat(value: Any) -> Any:
    """`{"type": T, T: {…}}` → `{"type": T, …}`, as tools and formats are written here."""
    if not isinstance(value, Mapping) or not isinstance(inner := value.get(str(value.get("type"))), Mapping):
        return value
    return {"type": value["type"], **inner}


_BESIDE = {"function": {"strict": False}}  # unless it says so itself, as in chat completions
_FORMS: Mapping[str, Callable[[Any], object]] = {
    "tools": lambda tools: [{**_BESIDE.get(tool.get("type"), {}), **_flat(tool)} for tool in tools],
    **dict.fromkeys(("tool_choice", "response_format"), _flat),
}


def reply(response: Mapping[str, Any], latency_s: float, *, from_cache: bool) -> ChatReply:
    """The reply in an answer. Raises CallFailed, or TryAgain for a temporary error within it."""
    if (error := response.get("error")) is not None:
        raise error_of({**error, "code": _STATUS.get(error.get("code"), error.get("code"))})
    items, usage = response["output"], response.get("usage") or {}
    incomplete = response.get("incomplete_details") or {}
    contents = [item["content"] for item in items if item["type"] == "message"]
    texts = [text for content in contents if (text := joined(content, "text")) is not None]
    calls = tuple(
        RequestedCall(item["call_id"], item["name"], item["arguments"])
        for item in items
        if item["type"] == "function_call"
    )
    return ChatReply(
        text="".join(texts) if texts else None,
        refusal="".join(joined(content, "refusal") or "" for content in contents) or None,
        tool_calls=calls,
        items=tuple(items),
        finish_reason=incomplete.get("reason") or ("tool_calls" if calls else "stop"),
        model=text_of(response.get("model")),
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        reasoning_tokens=count((usage.get("output_tokens_details") or {}).get("reasoning_tokens")),
        cached_tokens=count((usage.get("input_tokens_details") or {}).get("cached_tokens")),
        latency_s=latency_s,
        response_id=text_of(response.get("id")),
        made_at=number(response.get("created_at")),
        from_cache=from_cache,
    )
