"""A real HTTP server on loopback that speaks chat completions, as each test scripts it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.serving import Quiet, serving


@dataclass
class Reply:
    """What to answer: a completion with `text`, or another status."""

    text: str | None = "ok"
    refusal: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, object] | None = None
    finish_reason: str = "stop"
    raw: str | bytes | None = None
    pause_s: float = 0.0  # before each byte of the body
    endless_head: bool = False  # one more header now and then, and never the body
    tool_calls: list[tuple[str, dict]] = field(default_factory=list)  # (name, arguments)
    usage: dict[str, object] = field(default_factory=dict)  # over what is usual
    model: str | None = None  # that answered; None: the one asked for, dated
    response_id: str = "c-1"
    cached_tokens: int | None = None  # of the prompt


@dataclass
class ChatServer:
    """`requests` are the bodies received, in order."""

    base_url: str
    requests: list[dict] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    shutdown_dates: dict[str, object] = field(default_factory=dict)  # by model


@contextmanager
def chat_server(answer: Callable[[dict, int], Reply]):
    """Starts a server; `answer(body, number of the request from 0)` says what to reply."""
    lock = threading.Lock()
    served = ChatServer("")

    class Handler(Quiet, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            """The list of models, with the day on which each ends."""
            day = served.shutdown_dates.get(self.path.rpartition("/")[2])
            content = json.dumps({"id": "m", "object": "model", "shutdown_date": day}).encode()
            self.send_response(200 if day else 404)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(served.requests)
                served.requests.append(body)
                served.keys.append(self.headers.get("Authorization"))
                served.headers.append(dict(self.headers))
            reply = answer(body, number)
            payload = reply.raw if reply.raw is not None else json.dumps(self._body(body, reply))
            payload = payload if isinstance(payload, bytes) else payload.encode()
            self.send_response(reply.status)
            with suppress(BrokenPipeError, ConnectionResetError):
                while reply.endless_head:
                    time.sleep(0.1)
                    self.wfile.write(b"X-More: 1\r\n")
                    self.wfile.flush()
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # the client may have stopped waiting
                for number in range(len(payload) if reply.pause_s else 0):
                    time.sleep(reply.pause_s)
                    self.wfile.write(payload[number : number + 1])
                self.wfile.write(b"" if reply.pause_s else payload)

        def _body(self, body, reply):
            if reply.status != 200:
                return {"error": {"message": f"status {reply.status}", **(reply.error or {})}}
            return {
                "id": reply.response_id,
                "object": "chat.completion",
                "created": 1,
                "model": reply.model or f"{body['model']}-2026-09",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": reply.finish_reason,
                        "message": {
                            "role": "assistant",
                            "content": reply.text,
                            **({"refusal": reply.refusal} if reply.refusal else {}),
                            **({"tool_calls": self._calls(reply)} if reply.tool_calls else {}),
                        },
                    }
                ],
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": 5,
                    "total_tokens": 15,
                    **self._cached(reply),
                    **reply.usage,
                },
            }

        @staticmethod
        def _cached(reply):
            tokens = reply.cached_tokens
            return {} if tokens is None else {"prompt_tokens_details": {"cached_tokens": tokens}}

        @staticmethod
        def _calls(reply):
            return [
                {"id": f"call-{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
                for n, (name, given) in enumerate(reply.tool_calls)
            ]

    with serving(Handler) as address:
        served.base_url = f"{address}/v1"
        yield served
