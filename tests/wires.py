"""Real HTTP servers on loopback that speak chat completions, OpenAI's Responses API or Anthropic's Messages API.

Every request must be one that the vendor's SDK describes, without any other key; every turn has the shape of its
replies. A test that holds for all of them describes the turns of a model as `Turn`s.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler
from pkgutil import resolve_name
from typing import Any

import jsonschema_rs

from tests.serving import Quiet, serving

NO_TOOLS = (
    "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
    "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What a model does in one turn: it thinks, says something, and calls tools as (name, number, arguments)."""

    text: str | None = None
    thought: int | None = None
    calls: tuple[tuple[str, int, Mapping[str, Any]], ...] = ()
    refusal: str | None = None
    cut: str | None = None  # length or filter


@dataclass
class Served:
    """`requests` are the bodies received, in order, with their `paths` and `keys`; `faults` what was wrong."""

    wire: Wire
    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Wire:
    """One API: `reply` is a turn in its form, `results` are those of tools that the last turn of a request has.

    `error` wraps what is wrong as its errors do. `request` and `reply_type` name types of the vendor's SDK, which
    takes seconds to import.
    """

    api: str
    path: str
    request: str
    reply_type: str
    reply: Callable[[Turn], dict[str, Any]]
    results: Callable[[Mapping[str, Any]], list[str]]
    error: Callable[[str], dict[str, Any]]

    def turn(self, turn: Turn) -> dict[str, Any]:
        """A turn as a body that the vendor's SDK reads."""
        body = self.reply(turn)
        resolve_name(self.reply_type).model_validate(body, strict=False)
        return body

    def fault(self, body: object) -> str | None:
        """What is wrong with a request."""
        return next(
            (f"{error.instance_path}: {error.message[:300]}" for error in _checks(self).iter_errors(body)), None
        )


@cache
def _checks(wire: Wire) -> Any:
    from pydantic import TypeAdapter

    schema = TypeAdapter(resolve_name(wire.request)).json_schema()
    _close(schema)
    return jsonschema_rs.validator_for(schema)


def _close(schema: object) -> None:
    """No object takes other keys than it names."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            _close(part)
    elif isinstance(schema, list):
        for part in schema:
            _close(part)


def _as_completion(turn: Turn) -> dict[str, Any]:
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for name, n, arguments in turn.calls
    ]
    thought = {} if turn.thought is None else {"reasoning_content": f"thought {turn.thought}"}
    finish = {"length": "length", "filter": "content_filter"}.get(
        turn.cut or "", "tool_calls" if calls else "stop"
    )
    message = {"role": "assistant", "content": turn.text, "refusal": turn.refusal, **thought}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "m-2026-11",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "logprobs": None,
                "message": {**message, **({"tool_calls": calls} if calls else {})},
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 30,
            "total_tokens": 130,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
    }


def _as_response(turn: Turn) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if turn.thought is not None:
        secret = f"secret-{turn.thought}"
        output.append(
            {"id": f"rs_{turn.thought}", "type": "reasoning", "summary": [], "encrypted_content": secret}
        )
    parts: list[dict[str, Any]] = []
    if turn.text is not None:
        parts.append({"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []})
    if turn.refusal is not None:
        parts.append({"type": "refusal", "refusal": turn.refusal})
    if parts:
        whole = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
        output.append({**whole, "content": parts})
    output += [
        {
            "id": f"fc_{n}",
            "type": "function_call",
            "call_id": f"call_{n}",
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for name, n, arguments in turn.calls
    ]
    reason = {"length": "max_output_tokens", "filter": "content_filter"}.get(turn.cut or "")
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed" if reason is None else "incomplete",
        "incomplete_details": None if reason is None else {"reason": reason},
        "model": "m-2026-11",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
            "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 20},
            "total_tokens": 130,
        },
    }


def _as_message(turn: Turn) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if turn.thought is not None:
        content.append({"type": "thinking", "thinking": "", "signature": f"secret-{turn.thought}"})
    if turn.text is not None:
        content.append({"type": "text", "text": turn.text, "citations": None})
    content += [
        {"type": "tool_use", "id": f"call_{n}", "name": name, "input": arguments, "caller": {"type": "direct"}}
        for name, n, arguments in turn.calls
    ]
    refused = turn.refusal is not None
    stops = {"length": "max_tokens", "filter": "refusal"}
    stop = "refusal" if refused else stops.get(turn.cut or "", "tool_use" if turn.calls else "end_turn")
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m-2026-11",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None, "explanation": turn.refusal} if refused else None,
        "usage": {
            "input_tokens": 26,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 64,
            "output_tokens": 30,
            "output_tokens_details": {"thinking_tokens": 20},
        },
    }


def _of_openai(words: str) -> dict[str, Any]:
    return {"error": {"message": words, "type": "invalid_request_error", "param": None, "code": None}}


def _of_anthropic(words: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": words}, "request_id": "req_1"}


WIRES = {
    wire.api: wire
    for wire in (
        Wire(
            api="chat",
            path="/v1/chat/completions",
            request="openai.types.chat.completion_create_params:CompletionCreateParamsNonStreaming",
            reply_type="openai.types.chat:ChatCompletion",
            reply=_as_completion,
            results=lambda body: [each["content"] for each in body["messages"] if each["role"] == "tool"],
            error=_of_openai,
        ),
        Wire(
            api="responses",
            path="/v1/responses",
            request="openai.types.responses.response_create_params:ResponseCreateParamsNonStreaming",
            reply_type="openai.types.responses:Response",
            reply=_as_response,
            results=lambda body: [
                each["output"] for each in body["input"] if each.get("type") == "function_call_output"
            ],
            error=_of_openai,
        ),
        Wire(
            api="messages",
            path="/v1/messages",
            request="anthropic.types.message_create_params:MessageCreateParamsNonStreaming",
            reply_type="anthropic.types:Message",
            reply=_as_message,
            results=lambda body: [
                block["content"]
                for each in body["messages"]
                for block in (each["content"] if isinstance(each["content"], list) else ())
                if block["type"] == "tool_result"
            ],
            error=_of_anthropic,
        ),
    )
}


def _of_chat_today(body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """What OpenAI answers to chat completions: its models take no tools there since gpt-5.4."""
    if "tools" in body and body.get("reasoning_effort") != "none":
        return 400, _of_openai(NO_TOOLS.format(model=body["model"]))
    return 200, _as_completion(Turn(text="chat"))


@contextmanager
def wire_server(
    api: str, answer: Callable[[dict[str, Any], int], Any], beside: Callable[[str, Any, bytes], Any] | None = None
):
    """`answer(body, number from 0)` → a Turn, a body, or (status, body) or (status, body, headers).

    `beside(path, headers, content)` answers all requests to other places, if it is given.
    """
    wire = WIRES[api]
    served, lock = Served(wire), threading.Lock()

    class Handler(Quiet, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self._send(*(beside(self.path, self.headers, b"") if beside else (404, {})))

        def do_POST(self):
            content = self.rfile.read(int(self.headers["Content-Length"]))
            if beside is not None and self.path != wire.path:
                return self._send(*beside(self.path, self.headers, content))
            body = json.loads(content)
            with lock:
                number = len(served.requests)
                served.requests.append(body)
                served.paths.append(self.path)
                served.keys.append(self.headers["Authorization"])
            if api == "responses" and self.path == WIRES["chat"].path:
                return self._send(*_of_chat_today(body))
            fault = f"{self.path} is not {wire.path}" if self.path != wire.path else wire.fault(body)
            if fault is not None:
                served.faults.append(fault)
                return self._send(400, wire.error(fault))
            reply = answer(body, number)
            reply = wire.turn(reply) if isinstance(reply, Turn) else reply
            return self._send(*(reply if isinstance(reply, tuple) else (200, reply)))

        def _send(self, status, body, headers=()):
            payload = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            for name, value in dict(headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

    with serving(Handler) as address:
        served.base_url = f"{address}/v1"
        yield served
    assert served.faults == []
