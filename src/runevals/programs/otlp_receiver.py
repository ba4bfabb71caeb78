"""A receiver of OpenTelemetry traces (OTLP over HTTP) on loopback, for programs that were given a token."""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from runevals.programs.loopback import LoopbackServer
from runevals.programs.otlp_spans import MOST_SPANS, PROTOBUF, Span, read_spans

TOKEN_HEADER = "x-runevals-trace"
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
MOST_BYTES = 16 * 1024 * 1024  # of the exports with one token, after decompression


class Recording:
    """The spans that came with one token, and why they are not all."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.spans: list[Span] = []
        self.problem: str | None = None
        self._bytes_left = MOST_BYTES

    def reserve(self, size: int) -> None:
        """Takes so many of the bytes that are left. Raises ValueError if they are fewer."""
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise ValueError(f"is larger than {MOST_BYTES // 1024**2} MiB")

    def add(self, spans: list[Span]) -> None:
        """Adds the spans of one export. Raises ValueError for too many."""
        if len(self.spans) + len(spans) > MOST_SPANS:
            raise ValueError(f"has more than {MOST_SPANS} spans")
        self.spans += spans

    def fail(self, problem: str) -> None:
        """Something of it is missing; the first reason counts."""
        self.problem = self.problem or problem


class OtlpReceiver:
    """Listens on a free port of loopback until it is closed."""

    def __init__(self) -> None:
        """Raises OSError, and ImportError without a library."""
        self._recordings: dict[str, Recording] = {}
        self._server = LoopbackServer(self._answer)
        self.address, self.close = self._server.address, self._server.close

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """What comes with a new token, until the end of the context."""
        recording = Recording()
        self._recordings[recording.token] = recording
        try:
            yield recording
        finally:
            del self._recordings[recording.token]

    async def _answer(
        self, scope: Mapping[str, Any], receive: Receive, send: Callable[[Mapping[str, Any]], Awaitable[None]]
    ) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        kind = headers.get("content-type", "")
        status, text = await self._take(scope["path"], headers, kind, receive)
        sent_headers = [(b"content-type", (kind if status == 200 else "text/plain").encode("latin-1"))]
        await send({"type": "http.response.start", "status": status, "headers": sent_headers})
        await send({"type": "http.response.body", "body": text.encode()})

    async def _take(self, path: str, headers: Mapping[str, str], kind: str, receive: Receive) -> tuple[int, str]:
        """The status of an export, and the text of the reply."""
        recording = self._recordings.get(headers.get(TOKEN_HEADER, ""))
        if recording is None:
            return 401, "the token is missing or no longer valid"
        try:
            body = await _body(receive, recording, headers)
            if path == "/v1/traces":  # metrics and logs are taken, and not looked at
                recording.add(read_spans(body, kind))
        except (ValueError, zlib.error) as error:
            recording.fail(str(error))
            return 400, str(error)
        except Exception as error:
            recording.fail(f"cannot be read: {type(error).__name__}")
            raise
        return 200, "" if kind.startswith(PROTOBUF) else "{}"


async def _body(receive: Receive, recording: Recording, headers: Mapping[str, str]) -> bytes:
    declared = int(headers.get("content-length", "0"))
    recording.reserve(declared)
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ValueError("ends early")
        body += message["body"]
        more = message["more_body"]
        recording.reserve(0 if declared else len(message["body"]))
    if headers.get("content-encoding", "identity") == "identity":
        return bytes(body)
    inflater = zlib.decompressobj(wbits=47)  # gzip or deflate
    content = inflater.decompress(body, MOST_BYTES + 1)
    recording.reserve(len(content))
    if not inflater.eof:
        raise ValueError("ends early")
    return content
