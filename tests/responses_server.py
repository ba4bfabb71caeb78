"""A real HTTP server on loopback that speaks OpenAI's Responses API, and chat completions as OpenAI does today.

Every request must be one that the SDK's own types describe; answers have the shape of its `Response`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter, ValidationError

from tests.serving import Quiet, serving

_REQUEST = TypeAdapter(ResponseCreateParamsNonStreaming)
_KEYS = {name for cls in ResponseCreateParamsNonStreaming.__mro__ for name in getattr(cls, "__annotations__", {})}
_KEYS |= set(_REQUEST.json_schema()["properties"])
NO_TOOLS = (
    "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
    "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
)


@dataclass
class Served:
    """`requests` are the bodies received, in order; `paths` where they came to; `faults` what was wrong."""

    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def response(*output, model="m-2026-11", **more) -> dict[str, Any]:
    """A response as the API gives it."""
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 130,
    }
    body = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed",
        "model": model,
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
        **more,
    }
    Response.model_validate(body)
    return body


def text(*texts):
    parts = [{"type": "output_text", "text": each, "annotations": [], "logprobs": []} for each in texts]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": parts}


def refusal(words):
    part = {"type": "refusal", "refusal": words}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def reasoning(number=1):
    return {"id": f"rs_{number}", "type": "reasoning", "summary": [], "encrypted_content": f"secret-{number}"}


def call(name, number=1, **arguments):
    return {
        "id": f"fc_{number}",
        "type": "function_call",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }


@contextmanager
def responses_server(answer: Callable[[dict[str, Any], int], Any]):
    """`answer(body, number from 0)` → a body, or (status, body) or (status, body, headers)."""
    served, lock = Served(), threading.Lock()

    class Handler(Quiet, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(served.requests)
                served.requests.append(body)
                served.paths.append(self.path)
            if self.path.endswith("/chat/completions"):
                self._send(*self._completion(body))
                return
            reply = self._fault(body) or answer(body, number)
            self._send(*(reply if isinstance(reply, tuple) else (200, reply)))

        def _completion(self, body):
            if "tools" in body and body.get("reasoning_effort") != "none":
                message = NO_TOOLS.format(model=body["model"])
                return 400, {"error": {"message": message, "param": "reasoning_effort", "code": None}}
            return 200, {"choices": [{"message": {"content": "chat"}, "finish_reason": "stop"}]}

        def _fault(self, body):
            unknown = body.keys() - _KEYS
            try:
                list(_REQUEST.validate_python(body).get("tools", ()))  # which are checked as they are taken
                error = f"unknown {sorted(unknown)}" if unknown else None
            except ValidationError as invalid:
                error = str(invalid)
            if error is None:
                return None
            served.faults.append(error)
            return 400, {"error": {"message": error}}

        def _send(self, status, body, headers=()):
            payload = json.dumps(body).encode()
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
