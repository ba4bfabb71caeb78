"""A vendor's SDK as we call it: an answer is read only so far and for so long. Half a second to import."""

from __future__ import annotations

import json
import math
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from functools import cache, partial
from http.client import HTTPException, HTTPResponse
from importlib import import_module
from typing import Any
from urllib.parse import quote
from weakref import finalize

from runevals.lib.parsing.shapes import object_in
from runevals.models.http.key import Key
from runevals.models.http.network import certificates
from runevals.models.http.origin import OPENAI_URL
from runevals.models.http.pace import RunStopped, Slot
from runevals.models.http.reading import PIECE, TooLarge, TooSlow, read_limited
from runevals.models.http.token_bucket import allowance_of

MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024  # of an error body, or of what a list says of a model
LIST_S = 10.0  # to ask a provider's list of models
IDLE_S = 5.0  # of a connection, after which the HTTP library opens another one
LOOK_EVERY_S = 0.5  # for calls that are late

# The class of an SDK's clients. Those of all vendors are made by one generator, and have the same parts.
_CLIENTS = {"openai": "OpenAI", "anthropic": "Anthropic"}

# Headers of the SDK about itself and the machine: private, and an eighth of its time.
_ABOUT_US = (
    *("X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-OS", "X-Stainless-Arch"),
    *("X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Async"),
)
_ABOUT_THE_CALL = ("x-stainless-retry-count", "x-stainless-read-timeout")
_trusted_by = cache(lambda http: http.create_ssl_context())  # by all clients: it takes 40 ms


class ChatClient:
    """One endpoint's completions as bytes, which cost half of what the SDK's objects do.

    `sdk` is the module of the vendor, whose errors are raised.
    """

    def __init__(
        self, sdk: str, *, base_url: str | None, key: Key, azure_api_version: str | None, timeout_s: float
    ) -> None:
        """With `azure_api_version`, `base_url` is an Azure OpenAI resource. Raises ValueError for no address."""
        self.sdk: Any = import_module(sdk)
        # The HTTP library of the SDK: httpx, later httpx2. They differ in name only.
        self._http = sys.modules[type(self.sdk.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0]]
        self._timeout_s = timeout_s
        self._key = key
        omitted = self.sdk.Omit()
        options: dict[str, Any] = {"api_key": "none", "timeout": timeout_s, "max_retries": 0}
        options["default_headers"] = {**dict.fromkeys(_ABOUT_US, omitted), **key.headers}
        self._as_bytes: dict[str, Any] = {  # options of a call whose reply the SDK does not read
            "options": {"headers": dict.fromkeys(_ABOUT_THE_CALL, omitted)},
            "cast_to": self._http.Response,
            "stream": True,
            "stream_cls": self.sdk.Stream[Any],
        }
        if azure_api_version is None:
            # Left to itself, the SDK takes the address that this machine's environment names.
            self._new: Any = partial(getattr(self.sdk, _CLIENTS[sdk]), base_url=base_url or OPENAI_URL, **options)
        else:
            azure = {"azure_endpoint": base_url or "", "api_version": azure_api_version}
            self._new = partial(self.sdk.AzureOpenAI, **azure, **options)
        self._certificates = certificates() or _trusted_by(self._http)
        self._lines: list[_Connection] = []
        self._idle = [self._another()]
        # The first request and its head, by path, model and key, of which address and headers may depend.
        self._firsts: dict[tuple[str, str, str], tuple[Any, bytes]] = {}
        closed = threading.Event()
        finalize(self, closed.set).atexit = False
        threading.Thread(target=_watch, args=(self._lines, closed), daemon=True, name="chat").start()

    def post(self, path: str, body: Mapping[str, object], slot: Slot) -> tuple[bytes, float, bool]:
        """The answer's body, the seconds from the call's turn to its end, and whether a cache gave it.

        A gateway says so in a header: `X-Cache: HIT`, `cf-aig-cache-status: HIT`.
        The turn begins when all is prepared and ends when the answer is there: what is done before and after
        keeps no place. Raises what the SDK raises, TooLarge, and RunStopped.
        """
        try:
            line = self._idle.pop()
        except IndexError:  # one client for all would look at every connection for each call
            line = self._another()
        line.slot = slot
        try:
            reply = self._send(line, path, body)
            with closing(reply):
                deadline = time.monotonic() - slot.lasts_s + self._timeout_s  # of the whole call
                content = read_limited(reply.iter_bytes(), MAX_ANSWER_BYTES, deadline)
                latency_s = slot.lasts_s
                slot.release()
                values = [value for name, value in reply.headers.items() if "cache" in name.lower()]
                return content, latency_s, any(value.lower().startswith("hit") for value in values)
        except (TooSlow, TimeoutError, self._http.TimeoutException, self.sdk.APITimeoutError) as error:
            raise self.sdk.APITimeoutError(request=line.request) from error
        except (OSError, HTTPException, self._http.RequestError, self.sdk.APIConnectionError) as error:
            if isinstance(error.__cause__, RunStopped):
                raise error.__cause__ from None
            if slot.lasts_s > self._timeout_s:
                raise self.sdk.APITimeoutError(request=line.request) from error
            raise self.sdk.APIConnectionError(request=line.request) from error.__cause__ or error
        finally:
            line.rest()
            self._idle.append(line)

    def _send(self, line: _Connection, path: str, body: Mapping[str, object]) -> Any:
        """The reply, its body not yet read. The SDK makes the first request to a model; those that follow differ
        in their body alone. They are written to its connection, or if that is not fresh, sent by its HTTP client.
        """
        key = line.sdk.api_key = self._key.value()
        place = path, str(body.get("model")), key
        if place not in self._firsts:
            reply = line.sdk.post(path, body=body, **self._as_bytes)
            self._firsts[place] = line.request, _head(line.request)
            return reply
        first, head = self._firsts[place]
        send = partial(line.http.send, stream=True)
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        reply = line.ask(first, head, content)
        if reply is None:
            reply = send(self._http.Request("POST", first.url, headers=first.headers, content=content))
        if reply.status_code < 300:
            return reply
        replies = iter([reply])  # an error, or where to go, is for the SDK to read, as if it had asked
        by_hand = self._http.MockTransport(lambda request: next(replies, None) or send(request))
        with self._http.Client(transport=by_hand, follow_redirects=True, trust_env=False) as client:
            return line.sdk.with_options(http_client=client).post(path, body=body, **self._as_bytes)

    def shutdown_date(self, model: str) -> str | None:
        """The day after which the provider's list of models no longer has this one, if the list says so."""
        deadline, client = time.monotonic() + LIST_S, self._new(timeout=LIST_S)
        client.api_key = self._key.value()
        try:
            with closing(client.get(f"/models/{quote(model, safe='')}", **self._as_bytes)) as reply:
                fields = object_in(json.loads(read_limited(reply.iter_bytes(), MAX_ERROR_BYTES, deadline)))
        except (self.sdk.APIError, self._http.HTTPError, TooLarge, TooSlow, ValueError):
            return None
        day = fields.get("shutdown_date", fields.get("retires_at"))
        return day[:10] if isinstance(day, str) else None

    def _another(self) -> _Connection:
        line = _Connection(self._timeout_s, self._http)
        hooks = {"request": [line.goes_out], "response": [line.comes_back]}
        line.http = self.sdk.DefaultHttpxClient(
            timeout=self._timeout_s, verify=self._certificates, event_hooks=hooks
        )
        line.sdk = self._new(http_client=line.http)
        self._lines.append(line)
        return line


def _head(request: Any) -> bytes:
    """What all requests to a model begin with."""
    for name in ("content-length", "cookie"):
        request.headers.pop(name, None)
    headers = (b"%b: %b" % pair for pair in request.headers.raw)
    return b"\r\n".join((b"POST %b HTTP/1.1" % request.url.raw_path, *headers, b"Content-Length: "))


class _Connection:
    """A client and its connection, for one call at a time."""

    def __init__(self, timeout_s: float, library: Any) -> None:
        self._library = library
        self.http: Any = None
        self.sdk: Any = None
        self.slot: Any = None  # of the running call
        self.request: Any = None  # of the running call, before redirects
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._stream: Any = None  # of the HTTP library
        self._leads_to = self._opens_to = ""  # an address, its host replaced by that of the connection
        self._idle_since = 0.0
        self._amid = ExitStack()  # what is to be done after an answer that was not read to its end

    def goes_out(self, request: Any) -> None:
        self._amid.close()
        request.extensions["trace"] = partial(self._on_event, request.url)
        if self.slot.sent is None:
            self.request = request
        self.slot.begin()  # a redirect is part of the same call

    def comes_back(self, reply: Any) -> None:
        self.slot.allowance = allowance_of(reply.headers)
        if reply.status_code >= 300:  # what comes with an error, the SDK reads to its end: there is one now
            self._amid.callback(reply.stream.close)
            reply.stream = self._library.Response(200, content=_beginning(reply.stream, self._timeout_s)).stream

    def ask(self, first: Any, head: bytes, content: bytes) -> Any:
        """The reply, its body not yet read; None if there is no fresh connection to the host itself."""
        idle_s = time.monotonic() - self._idle_since
        if self._leads_to != str(first.url) or idle_s > IDLE_S or self._stream.get_extra_info("is_readable"):
            return None
        self.request = first
        self.slot.begin()
        self._amid.callback(self._stream.close)
        connection = self._stream.get_extra_info("socket")
        with suppress(ConnectionError):  # as in the library: the error response may have arrived already
            connection.sendall(b"%b%d\r\n\r\n%b" % (head, len(content), content))
        answer = HTTPResponse(connection, method="POST")
        self._amid.callback(answer.close)
        answer.begin()
        while answer.status < 200:  # another one follows
            answer.headers = None  # type: ignore[assignment]
            answer.begin()
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.getheaders()]
        reply = self._library.Response(answer.status, headers=headers, content=self._body(answer), request=first)
        self.comes_back(reply)
        return reply

    def _body(self, answer: HTTPResponse) -> Iterator[bytes]:
        received, length = 0, answer.length
        least, most = (1, math.inf) if length is None else (length, length)
        while piece := answer.read1(int(min(most - received, PIECE))):
            received += len(piece)
            yield piece
        if received < least and answer.status < 300:  # or its head was incomplete: http.client does not say so
            missing = f"(received {received} bytes, expected {least})"
            raise HTTPException(f"peer closed connection without sending complete message body {missing}")
        if not answer.will_close:
            self._amid.pop_all()

    def rest(self) -> None:
        """The call is over."""
        with self._lock:
            self.slot = None
        self._amid.close()
        self._idle_since = time.monotonic()

    def _on_event(self, url: Any, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(".connect_tcp.started"):
            self._opens_to = str(url.copy_with(host=info["host"], port=info["port"]))
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):  # directly or through a proxy
            self._leads_to, self._stream = self._opens_to, info["return_value"]
            _send_in_one(self._stream)

    def cut_if_late(self) -> None:
        """Aborts the running call if it is overdue; never the next call."""
        with self._lock:
            is_late = self.slot is not None and self.slot.lasts_s > self._timeout_s + LOOK_EVERY_S
            if is_late and self._stream is not None:
                with suppress(OSError):
                    socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)


def _send_in_one(stream: Any) -> None:
    """Head and body of a request go out together, when its answer is awaited: half the packets, half the calls."""
    write, read, waiting = stream.write, stream.read, bytearray()

    def write_later(buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG001 - its time is that of `read`
        waiting.extend(buffer)

    def read_after(max_bytes: int, timeout: float | None = None) -> bytes:
        content = bytes(waiting)
        waiting.clear()
        with suppress(Exception):  # as in the library: the error response may have arrived already
            write(content, timeout)
        answer: bytes = read(max_bytes, timeout)
        return answer

    stream.write, stream.read = write_later, read_after


def _watch(lines: list[_Connection], closed: threading.Event) -> None:
    """Aborts overdue calls until closed: a server that sends headers slowly keeps each single read in time."""
    while not closed.wait(LOOK_EVERY_S):
        for line in [*lines]:
            line.cut_if_late()
    for line in lines:
        line.http.close()


def _beginning(stream: Any, seconds: float) -> Iterator[bytes]:
    """What comes of a body in this time, and at most so much of it."""
    remaining, deadline = MAX_ERROR_BYTES, time.monotonic() + seconds
    for chunk in stream:
        yield chunk[:remaining]
        remaining -= len(chunk)
        if remaining <= 0 or time.monotonic() > deadline:
            return
