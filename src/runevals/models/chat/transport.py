"""A vendor's SDK as we call it: an answer is read only so far and for so long. Half a second to import."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from functools import cache, partial
from importlib import import_module
from typing import Any
from urllib.parse import quote
from weakref import finalize

from runevals.lib.parsing.shapes import object_in, text_in
from runevals.lib.text.numbers import phrase
from runevals.models.http.key import Key
from runevals.models.http.network import certificates
from runevals.models.http.origin import OPENAI_URL
from runevals.models.http.pace import RunStopped, Slot
from runevals.models.http.reading import TooLarge, TooSlow, read_limited
from runevals.models.http.token_bucket import allowance_of

MAX_ANSWER_BYTES = 16 * 1024 * 1024
LARGE_BYTES = 64 * 1024  # larger requests are sent in pieces
MAX_ERROR_BYTES = 64 * 1024  # of an error body, or of what a list says of a model
LIST_S = 10.0  # to ask a provider's list of models

LOOK_EVERY_S = 0.5  # for calls that are late

# The class of an SDK's clients. Those of all vendors are made by one generator, and have the same parts.
_CLIENTS = {"openai": "OpenAI", "anthropic": "Anthropic"}

# Headers of the SDK about itself and the machine: private, and an eighth of its time.
_ABOUT_US = (
    *("X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-OS", "X-Stainless-Arch"),
    *("X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Async"),
)
_ABOUT_THE_CALL = ("x-stainless-retry-count", "x-stainless-read-timeout")
_OF_ONE_REQUEST = (b"content-length", b"cookie")
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
        # What all requests have in common, by path, model and key, of which address and headers may depend.
        self._in_common: dict[tuple[str, str, str], Any] = {}
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
        except TooSlow as error:
            raise self.sdk.APITimeoutError(request=line.request) from error
        except self._http.TimeoutException as error:
            raise self.sdk.APITimeoutError(request=error.request) from error
        except (self._http.RequestError, self.sdk.APIConnectionError) as error:
            if isinstance(error.__cause__, RunStopped):
                raise error.__cause__ from None
            if slot.lasts_s > self._timeout_s:
                raise self.sdk.APITimeoutError(request=error.request) from error
            if isinstance(error, self.sdk.APIConnectionError):
                raise
            raise self.sdk.APIConnectionError(request=error.request) from error
        finally:
            line.rest()
            self._idle.append(line)

    def _send(self, line: _Connection, path: str, body: Mapping[str, object]) -> Any:
        """The reply, its body not yet read. The SDK makes the first request to a model; those that follow differ
        from it in their body alone, and are sent by the SDK's HTTP client, in half the time.
        """
        key = self._key.value()
        place = path, str(body.get("model")), key
        common = self._in_common.get(place)
        if common is None:
            line.sdk.api_key = key
            reply = line.sdk.post(path, body=body, **self._as_bytes)
            timeout = {"timeout": line.request.extensions["timeout"]}
            headers = [pair for pair in line.request.headers.raw if pair[0].lower() not in _OF_ONE_REQUEST]
            self._in_common[place] = {"url": line.request.url, "headers": headers, "extensions": timeout}
            return reply
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        reply = line.http.send(self._http.Request("POST", content=content, **common), stream=True)
        if reply.status_code >= 300:
            with closing(reply):
                raise _status_error(self.sdk, reply)
        return reply

    def shutdown_date(self, model: str) -> str | None:
        """The day after which the provider's list of models no longer has this one, if the list says so."""
        deadline = time.monotonic() + LIST_S
        client = self._new(timeout=LIST_S)
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
        line.http = self.sdk.DefaultHttpxClient(
            timeout=self._timeout_s,
            verify=self._certificates,
            event_hooks={"request": [line.goes_out], "response": [line.comes_back]},
        )
        line.sdk = self._new(http_client=line.http)
        self._lines.append(line)
        return line


def _status_error(sdk: Any, reply: Any) -> Exception:
    """As the SDK says it."""
    reply.read()
    body: Any = reply.text.strip()
    with suppress(ValueError, RecursionError):
        body = json.loads(body)
    error = body.get("error", body) if isinstance(body, Mapping) else body
    text = text_in(object_in(error).get("message"))
    message = f"Error code: {reply.status_code}{phrase(text, ' - {}')}"
    error_: Exception = sdk.APIStatusError(message, response=reply, body=error)
    return error_


class _Connection:
    """A client and its connection, for one call at a time."""

    def __init__(self, timeout_s: float, library: Any) -> None:
        self._beginning = _beginning(library)
        self.http: Any = None
        self.sdk: Any = None
        self.slot: Slot | None = None  # of the running call
        self.request: Any = None  # of the running call, before redirects
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def goes_out(self, request: Any) -> None:
        request.extensions["trace"] = self._on_event
        if self.slot is not None:
            if self.slot.sent is None:
                self.request = request
            self.slot.begin()  # a redirect is part of the same call

    def comes_back(self, reply: Any) -> None:
        if self.slot is not None:
            self.slot.allowance = allowance_of(reply.headers)
        if reply.status_code >= 300:  # what comes with an error, the SDK reads to its end: there is one now
            reply.stream = self._beginning(reply.stream, time.monotonic() + self._timeout_s)

    def rest(self) -> None:
        """The call is over."""
        with self._lock:
            self.slot = None

    def _on_event(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):  # directly or through a proxy
            self._socket = info["return_value"].get_extra_info("socket")
            _send_in_one(info["return_value"])

    def cut_if_late(self) -> None:
        """Aborts the running call if it is overdue; never the next call."""
        with self._lock:
            is_late = self.slot is not None and self.slot.lasts_s > self._timeout_s + LOOK_EVERY_S
            if is_late and self._socket is not None:
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _send_in_one(stream: Any) -> None:
    """Head and body of a request go out together, when its answer is awaited: half the packets, half the calls."""
    write, read, waiting = stream.write, stream.read, bytearray()

    def write_later(buffer: bytes, timeout: float | None = None) -> None:
        waiting.extend(buffer)
        if len(waiting) > LARGE_BYTES:
            write_now(timeout)

    def write_now(timeout: float | None) -> None:
        content = bytes(waiting)
        waiting.clear()
        write(content, timeout)

    def read_after(max_bytes: int, timeout: float | None = None) -> bytes:
        if waiting:
            with suppress(Exception):  # as in the library: the error response may have arrived already
                write_now(timeout)
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


@cache
def _beginning(library: Any) -> type[Any]:
    """`_Beginning` as a stream of an HTTP library, which takes no others."""
    return type("Beginning", (_Beginning, library.SyncByteStream), {})


class _Beginning:
    """What comes of a body until a time, and at most so much of it."""

    def __init__(self, stream: Any, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        remaining = MAX_ERROR_BYTES
        for chunk in self._stream:
            yield chunk[:remaining]
            remaining -= len(chunk)
            if remaining <= 0 or time.monotonic() > self._deadline:
                return

    def close(self) -> None:
        self._stream.close()
