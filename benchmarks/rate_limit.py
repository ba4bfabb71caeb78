"""How well refusals are ridden out: time and refused requests beside an oracle, on real servers.

    python benchmarks/rate_limit.py [--window 60] [--workers 16] [--latency 0.5] [--only PART]

Hosts refuse with 429 and Retry-After: calls at random, calls above a limit, or both. A limit is per window (fixed
or sliding), changes in mid-run, or is one of tokens per minute that headers announce. With two hosts, each case
calls one after the other, as a target and its judge.

The oracle knows the limits: it sends each call when it is accepted. Calls that were refused at random add their
own waits.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from runevals.models.chat.chat import Chat, ChatFailed, Endpoint
from runevals.models.http.throttle import Throttle

BODY = (
    b'{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": '
    b'{"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]}'
)
RETRY_AFTER_S = 1.0  # of a refusal at random


class Unlimited:
    """Accepts every call."""

    def free_at(self, now: float) -> float:
        """The earliest time of the next call."""
        return now

    def take(self, now: float) -> None:
        """Counts an accepted call."""

    def headers(self, now: float) -> dict[str, str]:  # noqa: ARG002 - as the others
        """What a response says about the limit."""
        return {}


class Calls(Unlimited):
    """So many calls in a window, and from a time on another number."""

    def __init__(
        self, most: int, window_s: float, *, sliding: bool = False, later: tuple[float, int] = (math.inf, 0)
    ) -> None:
        self._most, self._window_s, self._sliding, self._later = most, window_s, sliding, later
        self._taken: deque[float] = deque()

    def free_at(self, now: float) -> float:
        self._forget(now)
        change_at, then = self._later
        if len(self._taken) < (then if now >= change_at else self._most):
            return now
        ends_at = self._taken[0] + self._window_s
        return min(ends_at, change_at) if now < change_at and len(self._taken) < then else ends_at

    def take(self, now: float) -> None:
        self._forget(now)
        self._taken.append(now)

    def _forget(self, now: float) -> None:
        if self._sliding:
            while self._taken and self._taken[0] + self._window_s <= now:
                self._taken.popleft()
        elif self._taken and self._taken[0] + self._window_s <= now:
            self._taken.clear()


class Tokens(Unlimited):
    """So many tokens in a window, refilled steadily; each call costs as many as the others."""

    def __init__(self, most: float, window_s: float, per_call: float) -> None:
        self._most, self._per_s, self._per_call = most, most / window_s, per_call
        self._left, self._at = most, 0.0

    def _left_at(self, now: float) -> float:
        return min(self._most, self._left + (now - self._at) * self._per_s)

    def free_at(self, now: float) -> float:
        return now + max(0.0, self._per_call - self._left_at(now)) / self._per_s

    def take(self, now: float) -> None:
        self._left, self._at = self._left_at(now) - self._per_call, now

    def headers(self, now: float) -> dict[str, str]:
        left = self._left_at(now)
        return {
            "x-ratelimit-limit-tokens": f"{self._most:.0f}",
            "x-ratelimit-remaining-tokens": f"{max(0.0, left):.0f}",
            "x-ratelimit-reset-tokens": f"{(self._most - left) / self._per_s:.3f}s",
        }


@dataclass
class Host:
    """A limit, the share of calls that are refused in spite of it, and what came of the calls."""

    limit: Unlimited = field(default_factory=Unlimited)
    share: float = 0.0
    requests: int = 0
    over_limit: int = 0
    at_random: int = 0
    _began_at: float | None = None
    _random: random.Random = field(default_factory=lambda: random.Random(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self) -> tuple[float | None, dict[str, str], float]:
        """The Retry-After, None for an accepted call; further headers; and how long it takes (1: as usual)."""
        with self._lock:
            self._began_at = self._began_at or time.monotonic()
            now = time.monotonic() - self._began_at
            self.requests += 1
            wait_s = None
            if self._random.random() < self.share:
                self.at_random += 1
                wait_s = RETRY_AFTER_S
            elif (free_at := self.limit.free_at(now)) > now:
                self.over_limit += 1
                wait_s = free_at - now
            else:
                self.limit.take(now)
            return wait_s, self.limit.headers(now), self._random.uniform(0.5, 1.5)


@dataclass(frozen=True)
class Scenario:
    """Hosts that each case calls in turn: `limited`, its limit also for the oracle, and further ones."""

    name: str
    calls: int
    limited: tuple[Unlimited, Unlimited] = (Unlimited(), Unlimited())  # of the host, of the oracle
    share: float = 0.0
    others: tuple[float, ...] = ()  # the shares of further hosts


def scenarios(window_s: float) -> list[Scenario]:
    def calls(most: int, **words) -> tuple[Unlimited, Unlimited]:
        return Calls(most, window_s, **words), Calls(most, window_s, **words)

    def tokens() -> tuple[Unlimited, Unlimited]:
        return Tokens(50_000, window_s, 1000), Tokens(50_000, window_s, 1000)

    middle = 1.5 * window_s
    return [
        *(Scenario(f"{share:.1%} at random", 1000, share=share) for share in (0.002, 0.01, 0.05)),
        Scenario("limit 50, fixed windows", 200, calls(50)),
        Scenario("limit 50, sliding windows", 200, calls(50, sliding=True)),
        Scenario("limit 500, fixed windows", 1200, calls(500)),
        Scenario("limit 500, sliding windows", 1200, calls(500, sliding=True)),
        Scenario("limit 50 and 5% at random", 200, calls(50), share=0.05),
        Scenario("limit 500 and 1% at random", 1200, calls(500), share=0.01),
        Scenario("limit 50, and a second host with 5% at random", 200, calls(50), others=(0.05,)),
        Scenario("limit 50, then 20", 150, calls(50, later=(middle, 20))),
        Scenario("limit 20, then 50", 150, calls(20, later=(middle, 50))),
        Scenario("limit of tokens, 50 calls", 200, tokens()),
    ]


@contextmanager
def server(host: Host, latency_s: float):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            wait_s, headers, takes = host.answer()
            if wait_s is None:
                time.sleep(takes * latency_s)
            else:
                headers["Retry-After"] = str(math.ceil(wait_s))
            body = BODY if wait_s is None else b'{"error": {"message": "slow down"}}'
            self.send_response(200 if wait_s is None else 429)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    running = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/v1"
    finally:
        running.shutdown()


def ideal_s(limit: Unlimited, calls: int, workers: int, latency_s: float) -> float:
    """How long the calls take if each is sent when it is accepted."""
    free, at = [0.0] * workers, 0.0
    for _ in range(calls):
        at = limit.free_at(max(at, heapq.heappop(free)))
        limit.take(at)
        heapq.heappush(free, at + latency_s)
    return max(free)


def ask(chats: list[Chat]) -> bool:
    try:
        for chat in chats:
            chat.ask([{"role": "user", "content": "hi"}], {})
    except ChatFailed:
        return False
    return True


def ride(scenario: Scenario, workers: int, latency_s: float) -> str:
    """One scenario → a line about it."""
    hosts = [Host(scenario.limited[0], scenario.share), *(Host(share=share) for share in scenario.others)]
    with ExitStack() as stack:
        urls = [stack.enter_context(server(host, latency_s)) for host in hosts]
        chats = [Chat(Endpoint(model="m", api_key="k", base_url=url), Throttle()) for url in urls]
        for chat in chats:
            chat.warm_up()
        started = time.monotonic()
        with ThreadPoolExecutor(workers) as pool:
            failed = list(pool.map(lambda _: ask(chats), range(scenario.calls))).count(False)
        took = time.monotonic() - started
    own_waits_s = sum(host.at_random for host in hosts) * RETRY_AFTER_S / workers
    ideal = ideal_s(scenario.limited[1], scenario.calls, workers, latency_s * len(hosts)) + own_waits_s
    requests, refused = sum(host.requests for host in hosts), sum(host.over_limit for host in hosts)
    return (
        f"{scenario.name}: {scenario.calls} cases in {took:.1f} s ({took / ideal:.2f} × the ideal {ideal:.1f} s), "
        f"{sum(host.at_random for host in hosts)} refused at random, {refused} of {requests} requests over the "
        f"limit ({100 * refused / requests:.1f} %), {failed} failed"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--window", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--only", default="", metavar="PART", help="scenarios whose name contains it")
    words = parser.parse_args()
    for scenario in scenarios(words.window):
        if words.only in scenario.name:
            print(ride(scenario, words.workers, words.latency), flush=True)


if __name__ == "__main__":
    main()
