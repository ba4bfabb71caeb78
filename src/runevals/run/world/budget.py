"""Ending a run early: because somebody asked for it, or because what may be spent is spent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from runevals.records import Problem
from runevals.records.rules import Limits

F = TypeVar("F", bound="Future[Any]")
T = TypeVar("T")

GRACE_S = 5.0  # for answers that are under way when a run is interrupted


class Stop:
    """Says that nothing more is to be sent. Any thread may ask for it; the first to do so says why."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: Future[None] = Future()
        self._ends_at = float("inf")
        self.problem: Problem | None = None
        self.cut_short = False  # it left something of the run unmeasured

    def ask(self, problem: Problem, *, grace_s: float = float("inf")) -> None:
        """From now on nothing is sent, and after `grace_s` nothing is waited for. Not for signal handlers."""
        with self._lock:
            if self.problem is not None:
                return
            self._ends_at = time.monotonic() + grace_s
            self.problem = problem
        self._asked.set_result(None)

    def refused(self, why: str) -> Problem:
        """Nobody answers any more: what is under way may still come → the problem of the stop."""
        self.ask(Problem(code="refused", message=why), grace_s=GRACE_S)
        assert self.problem is not None  # noqa: S101 - asked for just now, if not before
        return self.problem

    def when_asked(self, then: Callable[[], None]) -> None:
        """Calls `then` once it is asked for, in the thread that does so."""
        self._asked.add_done_callback(lambda _: then())

    def first_of(self, pending: Pending[F, Any]) -> list[F]:
        """Those of `pending` that are done, at least one of them, unless it is time to stop waiting."""
        left_s = max(0.0, self._ends_at - time.monotonic())
        return pending.done(None if left_s == float("inf") else left_s)

    @property
    def is_over(self) -> bool:
        """Whether nothing is waited for any more."""
        return time.monotonic() >= self._ends_at


class Pending(dict[F, T]):
    """Futures, each with what it is for; those that are done are found without a look at the others."""

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self.finished: SimpleQueue[Any] = SimpleQueue()
        stop.when_asked(lambda: self.finished.put(None))

    def __setitem__(self, future: F, what: T) -> None:
        super().__setitem__(future, what)
        future.add_done_callback(self.finished.put)

    def done(self, timeout_s: float | None = 0.0) -> list[F]:
        """Those that are done by now; where none is, it waits so long for one, or for a stop."""
        found: list[F] = []
        try:
            found.append(self.finished.get(timeout=timeout_s))
            while True:
                found.append(self.finished.get_nowait())
        except Empty:
            return [future for future in found if future in self]


class Budget:
    """Counts what answers and judgements took, and asks for a stop when a limit is reached."""

    def __init__(self, limits: Limits, stop: Stop) -> None:
        self._limits = limits
        self.stop = stop
        self._lock = threading.Lock()
        self._cost_usd = 0.0
        self._tokens = 0
        self.was_spent = False  # for anything at all

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Counts the time that passes in it."""
        if self._limits.duration_s is None:
            yield
            return
        told = f"the run took longer than --max-duration {self._limits.duration_s:g} s"
        timer = threading.Timer(self._limits.duration_s, self._exhausted, (told, GRACE_S))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def spend(
        self,
        cost_usd: float | None,
        input_tokens: int | None,
        output_tokens: int | None,
        model: str | None = None,
    ) -> None:
        """One answer more. An amount that is limited and unknown ends the run: nobody could keep to the limit."""
        with self._lock:
            self.was_spent = True
            self._cost_usd += cost_usd or 0.0
            self._tokens += (input_tokens or 0) + (output_tokens or 0)
            cost, tokens = self._cost_usd, self._tokens
        most_usd, most_tokens = self._limits.cost_usd, self._limits.tokens
        if most_usd is not None and cost_usd is None:
            whose = f" of {model}" if model else ""
            told = f"what a call costs is unknown; name the price{whose} in the settings, `prices:`"
            self._unknown(f"--max-cost cannot be kept: {told}")
        elif most_usd is not None and cost >= most_usd:
            self._exhausted(f"--max-cost {most_usd:g} is spent: ${cost:.4f} so far")
        elif most_tokens is not None and (input_tokens is None or output_tokens is None):
            self._unknown("--max-tokens cannot be kept: a call does not say how many it took")
        elif most_tokens is not None and tokens >= most_tokens:
            self._exhausted(f"--max-tokens {most_tokens} are spent: {tokens} so far")

    def _unknown(self, told: str) -> None:
        """The run is no whole one even where nothing of it is missing: it may have cost more than it might."""
        self.stop.cut_short = True
        self._exhausted(told)

    def _exhausted(self, told: str, grace_s: float = float("inf")) -> None:
        self.stop.ask(Problem(code="budget_exhausted", message=told), grace_s=grace_s)
