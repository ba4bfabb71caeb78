"""How well a rate limit is ridden out: time and refused requests against the ideal, on a real server.

    python benchmarks/rate_limit.py [--window 60] [--limit 50] [--calls 200]

The server takes LIMIT requests a WINDOW (fixed windows, or sliding ones) and refuses the others with 429 and
Retry-After. The ideal is to send LIMIT requests at the begin of every window.
"""

from __future__ import annotations

import argparse
import math
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from runevals.lib.chat.chat import Chat, ChatFailed, Endpoint
from runevals.lib.http.throttle import Throttle

BODY = (
    b'{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": '
    b'{"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]}'
)


class Limit:
    """Counts what was asked and what was refused."""

    def __init__(self, most: int, window_s: float, *, sliding: bool) -> None:
        self.most, self.window_s, self.sliding = most, window_s, sliding
        self.asked = self.refused = 0
        self._lock = threading.Lock()
        self._taken: deque[float] = deque()

    def wait_s(self) -> float | None:
        """None if this request is taken, else the seconds until one will be."""
        with self._lock:
            self.asked += 1
            now = time.monotonic()
            if self.sliding:
                while self._taken and self._taken[0] <= now - self.window_s:
                    self._taken.popleft()
            elif self._taken and now >= self._taken[0] + self.window_s:
                self._taken.clear()
            if len(self._taken) < self.most:
                self._taken.append(now)
                return None
            self.refused += 1
            return self._taken[0] + self.window_s - now


@contextmanager
def server(limit: Limit, latency_s: float):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            wait_s = limit.wait_s()
            if wait_s is None:
                time.sleep(latency_s)
            body = BODY if wait_s is None else b'{"error": {"message": "slow down"}}'
            self.send_response(200 if wait_s is None else 429)
            if wait_s is not None:
                self.send_header("Retry-After", str(math.ceil(wait_s)))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/v1"
    finally:
        running.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--window", type=float, default=60.0)
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--workers", type=int, default=16)
    told = parser.parse_args()
    for sliding in (False, True):
        limit = Limit(told.limit, told.window, sliding=sliding)
        failed = 0
        with server(limit, 0.5) as base_url:
            chat = Chat(Endpoint(model="m", api_key="k", base_url=base_url), Throttle())
            chat.warm_up()
            started = time.monotonic()

            def ask(_: int, chat: Chat = chat) -> bool:
                try:
                    chat.ask([{"role": "user", "content": "hi"}], {})
                except ChatFailed:
                    return False
                return True

            with ThreadPoolExecutor(told.workers) as pool:
                failed = list(pool.map(ask, range(told.calls))).count(False)
            took = time.monotonic() - started
        windows = math.ceil(told.calls / told.limit) - 1
        last = (told.calls - windows * told.limit) / told.workers * 0.5
        ideal = windows * told.window + last
        print(
            f"{'sliding' if sliding else 'fixed'} windows: {told.calls} calls in {took:.1f} s "
            f"({took / ideal:.2f} × the ideal {ideal:.1f} s), {limit.refused} of {limit.asked} requests refused "
            f"({100 * limit.refused / limit.asked:.1f} %), {failed} failed"
        )


if __name__ == "__main__":
    main()
