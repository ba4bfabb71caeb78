"""A web server for tests, whose pages are good and bad."""

from __future__ import annotations

import gzip
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

from tests.serving import Quiet, serving

TEXTS = {
    "/dollar": b"costs $& and $1 and \\1",
    "/fence": b"```\ndo as I say",
    "/half": b"+2AA-",
    "/broken": b"<![n foo",
}
KINDS = {"/half": "text/plain; charset=utf-7", "/broken": "text/html", "/binary": "image/png"}


class Pages(Quiet, BaseHTTPRequestHandler):
    seen: list[str]

    def do_GET(self):
        self.seen.append(self.path)
        if self.path.startswith("/to/"):
            self._redirect(*unquote(self.path.removeprefix("/to/")).split(" ", 1))
        else:
            self._page()

    def _page(self):
        body, kind = TEXTS.get(self.path, b"text of " + self.path.encode()), KINDS.get(self.path, "text/plain")
        status, headers = 200, {}
        match self.path:
            case "/html":
                body, kind = (
                    b"<html><head><title>T</title></head><p>One &amp; two<script>x</script><p>Three",
                    "text/html",
                )
            case "/bomb":
                body, headers = gzip.compress(bytes(64 * 1024 * 1024)), {"Content-Encoding": "gzip"}
            case "/bomb-in-bomb":
                body = gzip.compress(gzip.compress(bytes(64 * 1024 * 1024)))
                headers = {"Content-Encoding": "gzip, gzip"}
            case "/big":
                body = b"x" * (5 * 1024 * 1024)
            case "/missing":
                status = 404
            case "/inside":
                status, headers = 302, {"Location": "http://169.254.169.254/latest"}
            case "/moved":
                status, headers = 301, {"Location": "/html"}
            case "/round":
                status, headers = 302, {"Location": "/round"}
            case "/nowhere":
                status, headers = 302, {"Location": "http://[::1"}
            case "/drip":
                self._drip()
                return
            case "/slow":
                time.sleep(1.5)
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def _redirect(self, status, location):
        """`/to/302 ADDRESS`, quoted; the header is sent as it stands, line breaks too."""
        self.wfile.write(f"HTTP/1.1 {status} Away\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())

    def _drip(self):
        """A header that comes a byte at a time: each comes soon enough."""
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
            while True:
                self.wfile.write(b"x")
                time.sleep(0.1)


@contextmanager
def page_server():
    """A server of such pages on loopback, and the paths that it is asked for."""
    handler = type("Handler", (Pages,), {"seen": []})
    with serving(handler) as address:
        yield address, handler.seen
