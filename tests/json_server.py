"""A real HTTP server on loopback that answers as each test scripts it."""

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
class Answer:
    """What to reply: `value` as JSON, or `raw` as it is."""

    value: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    drip_s: float | None = None  # between the bytes


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: object


@dataclass
class JsonServer:
    """`requests` as they came, in order."""

    url: str
    requests: list[Asked] = field(default_factory=list)

    @property
    def bodies(self):
        return [asked.body for asked in self.requests]


@contextmanager
def json_server(answer: Callable[[Asked, int], object]):
    """Starts a server; `answer(request, its number from 0)` gives an Answer, or the value of one."""
    lock = threading.Lock()
    served = JsonServer("")

    class Handler(Quiet, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self):
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, json.loads(sent) if sent else None)
            with lock:
                number = len(served.requests)
                served.requests.append(asked)
            told = answer(asked, number)
            told = told if isinstance(told, Answer) else Answer(told)
            payload = json.dumps(told.value).encode() if told.raw is None else told.raw
            self.send_response(told.status)
            for name, value in {"Content-Length": str(len(payload)), **told.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # the client may have stopped waiting
                size = len(payload) if told.drip_s is None else 1
                for start in range(0, len(payload), size or 1):
                    self.wfile.write(payload[start : start + size])
                    time.sleep(told.drip_s or 0)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = reply  # noqa: N815 - as http.server calls them

    with serving(Handler) as address:
        served.url = address
        yield served
