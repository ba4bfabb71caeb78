"""A receiver of OpenTelemetry traces (OTLP over HTTP) on loopback, for programs that were given a token."""

from __future__ import annotations

import re
import secrets
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from runevals.programs.otlp_spans import MOST_SPANS, PROTOBUF, Span, read_spans

TOKEN_HEADER = "x-runevals-trace"
MOST_BYTES = 16 * 1024 * 1024  # of the exports with one token, after decompression
MOST_CONNECTIONS = 128
MOST_LINE = 4096  # bytes, of those between chunks
MOST_TRAILERS = 64
READ_TIMEOUT_S = 10.0
_MIB = 1024**2


class Recording:
    """The spans that came with one token, and why they are not all."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.spans: list[Span] = []
        self.problem: str | None = None
        self._bytes_left = MOST_BYTES
        self._lock = threading.Lock()

    def reserve(self, size: int) -> bool:
        """Whether there is room for so many bytes more."""
        with self._lock:
            self._bytes_left -= size
            if self._bytes_left < 0:
                self.fail(f"is larger than {MOST_BYTES // _MIB} MiB")
            return self._bytes_left >= 0

    def add(self, spans: list[Span]) -> None:
        """Adds the spans of one export."""
        with self._lock:
            if len(self.spans) + len(spans) > MOST_SPANS:
                self.fail(f"has more than {MOST_SPANS} spans")
            else:
                self.spans += spans

    def fail(self, problem: str) -> None:
        """Something of it is missing; the first reason counts."""
        self.problem = self.problem or problem


class OtlpReceiver:
    """Listens on a free port of loopback until it is closed."""

    def __init__(self) -> None:
        """Raises OSError."""
        self._server = _Server(("127.0.0.1", 0), _Exports)
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True, name="otlp").start()

    @property
    def address(self) -> str:
        """Where programs export to."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """What comes with a new token, until the end of the context."""
        recording = Recording()
        self._server.recordings[recording.token] = recording
        try:
            yield recording
        finally:
            del self._server.recordings[recording.token]

    def close(self) -> None:
        """Frees the port."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, *address: Any) -> None:
        self.recordings: dict[str, Recording] = {}
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(*address)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is the program's affair."""


class _Refused(Exception):
    """An export that is not read: (status, why)."""


class _Exports(BaseHTTPRequestHandler):
    timeout: ClassVar[float] = READ_TIMEOUT_S
    server: _Server

    def do_POST(self) -> None:
        recording = self.server.recordings.get(self.headers.get(TOKEN_HEADER, ""))
        if recording is None:
            self._reply(401, "the token is missing or no longer valid")
            return
        try:
            body = self._body(recording)
            if self.path == "/v1/traces":  # metrics and logs are taken, and not looked at
                recording.add(read_spans(body, self._content_type))
        except (_Refused, ValueError, zlib.error) as error:
            status, reason = error.args if isinstance(error, _Refused) else (400, str(error))
            recording.fail(reason)
            self._reply(status, reason)
            return
        except OSError:
            recording.fail("ends early")
            raise
        except Exception as error:
            recording.fail(f"cannot be read: {type(error).__name__}")
            raise
        self._reply(200, "" if self._content_type.startswith(PROTOBUF) else "{}")

    @property
    def _content_type(self) -> str:
        return str(self.headers.get("Content-Type", ""))

    def _body(self, recording: Recording) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b"".join(self._chunks(recording))
        else:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal():
                raise _Refused(411, "is sent without its length")
            body = self._read(int(length), recording)
        if self.headers.get("Content-Encoding", "identity") == "identity":
            return body
        inflater = zlib.decompressobj(wbits=47)  # gzip or deflate
        body = inflater.decompress(body, MOST_BYTES + 1)
        if not recording.reserve(len(body)):
            raise _Refused(413, "is too large")
        if not inflater.eof:
            raise _Refused(400, "ends early")
        return body

    def _chunks(self, recording: Recording) -> Iterator[bytes]:
        """The content of a body that is sent in chunks, each with its length; nothing else of it is read."""
        while size := self._size_of_chunk():
            yield self._read(size, recording)
            if self._line() != b"":
                raise _Refused(400, "has a chunk that is longer than its length")
        for _ in range(MOST_TRAILERS):
            if not self._line():
                return
        raise _Refused(400, "has too many lines after its last chunk")

    def _size_of_chunk(self) -> int:
        size = self._line().partition(b";")[0].strip()
        if re.fullmatch(rb"[0-9A-Fa-f]{1,8}", size) is None:
            raise _Refused(400, "has a chunk without a length")
        return int(size, 16)

    def _line(self) -> bytes:
        line = self.rfile.readline(MOST_LINE)
        if not line.endswith(b"\n"):
            raise _Refused(400, "ends early")
        return line.rstrip(b"\r\n")

    def _read(self, size: int, recording: Recording) -> bytes:
        if not recording.reserve(size):
            raise _Refused(413, "is too large")
        content = self.rfile.read(size)
        if len(content) < size:
            raise _Refused(400, "ends early")
        return content

    def _reply(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", self._content_type if status == 200 else "text/plain")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""
