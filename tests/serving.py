"""HTTP servers on loopback, as threads of the test that needs them."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any


class Quiet:
    """A request handler that writes nothing to the test's output."""

    def log_message(self, *_: object) -> None:
        pass


_ports = count()


def own_port() -> int:
    """A free port below those that the system gives away, so that nobody is given it before a server listens."""
    while True:
        port = 10_000 + (os.getpid() * 37 + next(_ports)) % 20_000
        with socket.socket() as free:
            if free.connect_ex(("127.0.0.1", port)):
                return port


class CallBarrier:
    """After a number of calls, the others wait: so a run cannot end before its test ends it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._most: int | None = None
        self._calls = 0

    def after(self, most: int | None) -> None:
        """From now on, so many calls pass; with None, all of them, and those that wait."""
        with self._changed:
            self._most, self._calls = most, 0
            self._changed.notify_all()

    def call(self) -> None:
        """Returns once this call may pass."""
        with self._changed:
            self._calls += 1
            number = self._calls
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._most is None or number <= self._most, 120)

    def wait_until_reached(self) -> None:
        """Returns once a call waits: all those before it were answered, or are."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._calls > (self._most or 0), 120)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # all workers of a run connect at once

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or a body waits 40 ms after its headers
        return connection, address

    def handle_error(self, *request: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client may have stopped waiting
            super().handle_error(*request)


def own_certificate(folder: Path) -> ssl.SSLContext:
    """How a server of `localhost` speaks TLS; `cert.pem` in the folder is its authority, which nobody knows."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    words = [*command.split(), "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server with this handler, while it runs."""
    server = _Server(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"{'http://127.0.0.1' if tls is None else 'https://localhost'}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
