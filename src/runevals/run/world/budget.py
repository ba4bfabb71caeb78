"""Stops a run early: on an interrupt, or at a limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from msgspec.structs import replace

from runevals.judge.user import UserMessage
from runevals.records import Problem, Response
from runevals.records.judgement import Judgement
from runevals.records.rules import Limits

F = TypeVar("F", bound="Future[Any]")
T = TypeVar("T")

GRACE_S = 5.0  # for answers that are under way when a run is interrupted
LOOK_S = 1.0  # a wait that ends by nothing else: a signal just before it, or in another thread, does not end it


class Stop:
    """A request to stop: no more calls are sent. Any thread may request it; the first reason is kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._request: Future[None] = Future()
        self._ends_at = float("inf")
        self.problem: Problem | None = None
        self.cut_short = False  # it left something of the run unmeasured

    def ask(self, problem: Problem, *, grace_s: float = float("inf")) -> None:
        """From now on no calls are sent, and after `grace_s` none is awaited. Not for signal handlers."""
        with self._lock:
            if self.problem is not None:
                return
            self._ends_at = time.monotonic() + grace_s
            self.problem = problem
        self._request.set_result(None)

    def name_side(self, side: str) -> None:
        """Says once in whose run it was requested, if it was."""
        if self.problem is not None:
            whose = f"in {side}: "
            self.problem = replace(self.problem, message=whose + self.problem.message.removeprefix(whose))

    def refused(self, why: str) -> Problem:
        """The service does not respond any more; running calls may still finish → the problem of the stop."""
        self.ask(Problem(code="refused", message=why), grace_s=GRACE_S)
        assert self.problem is not None  # noqa: S101 - requested just now, if not before
        return self.problem

    def when_asked(self, then: Callable[[], None]) -> None:
        """Calls `then` once a stop is requested, in the requesting thread."""
        self._request.add_done_callback(lambda _: then())

    def first_of(self, pending: Pending[F, Any]) -> list[F]:
        """The futures of `pending` that are done, waiting for one: none after a second, or when waiting ends."""
        return pending.done(max(0.0, min(LOOK_S, self._ends_at - time.monotonic())))

    @property
    def is_over(self) -> bool:
        """Whether nothing is waited for any more."""
        return time.monotonic() >= self._ends_at


class Pending(dict[F, T]):
    """Futures with their purpose; the finished ones are available without iterating over all."""

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self.finished: SimpleQueue[Any] = SimpleQueue()
        stop.when_asked(lambda: self.finished.put(None))

    def __setitem__(self, future: F, what: T) -> None:
        super().__setitem__(future, what)
        future.add_done_callback(self.finished.put)

    def done(self, timeout_s: float = 0.0) -> list[F]:
        """The finished futures; if there is none, waits for one or for a stop."""
        done: list[F] = []
        try:
            done.append(self.finished.get(timeout=timeout_s))
            while True:
                done.append(self.finished.get_nowait())
        except Empty:
            return [future for future in done if future in self]


class Budget:
    """Counts the cost of answers and judgements, and requests a stop when a limit is reached."""

    def __init__(self, limits: Limits, stop: Stop) -> None:
        self._limits = limits
        self.stop = stop
        self._lock = threading.Lock()
        self.cost_usd = 0.0
        self.tokens = 0
        self.answers = 0  # that were counted

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Counts the time that passes in it."""
        if self._limits.duration_s is None:
            yield
            return
        reason = f"the run took longer than --max-duration {self._limits.duration_s:g} s"
        timer = threading.Timer(self._limits.duration_s, self._exhausted, (reason, GRACE_S))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def spend(self, answer: Response | Judgement | UserMessage) -> None:
        """Counts one answer. If a limited amount is unknown, the run ends, as the limit cannot be checked."""
        with self._lock:
            self.answers += 1
            self.cost_usd += answer.cost_usd or 0.0
            self.tokens += (answer.input_tokens or 0) + (answer.output_tokens or 0)
            cost, tokens = self.cost_usd, self.tokens
        self.require_known(answer)
        most_usd, most_tokens = self._limits.cost_usd, self._limits.tokens
        if most_usd is not None and cost >= most_usd:
            self._exhausted(f"--max-cost {most_usd:g} is spent: ${cost:.4f} so far")
        elif most_tokens is not None and tokens >= most_tokens:
            self._exhausted(f"--max-tokens {most_tokens} are spent: {tokens} so far")

    def require_known(self, answer: Response | Judgement | UserMessage) -> None:
        """If a limited amount of an answer is unknown, ends the run, also if the answer was stored earlier."""
        if self._limits.cost_usd is not None and answer.cost_usd is None:
            where = f"name the price of {answer.model} in the settings, `prices:` (for a change, the base's count)"
            of_program = "a program reports it as `costUSD`, or its `model`, `inputTokens` and `outputTokens`"
            where = where if answer.model and answer.input_tokens is not None else of_program
            self._unknown(f"--max-cost cannot be kept: what a call costs is unknown; {where}")
        elif self._limits.tokens is not None and (answer.input_tokens is None or answer.output_tokens is None):
            where = "a program reports them as `inputTokens` and `outputTokens`"
            self._unknown(f"--max-tokens cannot be kept: a call does not say how many it took; {where}")

    def _unknown(self, reason: str) -> None:
        """Marks the run incomplete: an unknown cost may have exceeded the limit."""
        self.stop.cut_short = True
        self.stop.ask(Problem(code="limit_unknown", message=reason))

    def _exhausted(self, reason: str, grace_s: float = float("inf")) -> None:
        self.stop.ask(Problem(code="budget_exhausted", message=reason), grace_s=grace_s)
