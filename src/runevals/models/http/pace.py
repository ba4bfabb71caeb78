"""When the next call to a host may be sent, and its permission; tells a rate limit from refusals at random."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from msgspec import Struct

from runevals.models.http.token_bucket import Allowance, TokenBucket

REFUSALS_OF_A_LIMIT = 3  # in a row
MOST_BEYOND_LIMIT = 2  # calls at once that try whether a limit became higher
SHORT, LONG = 0.5, 1.5  # times the known length of a window: a refusal before or after does not fit it
MOST_PATIENT = 32  # windows, until a wider one is tried again


class SentCall(Struct, frozen=True):
    """The place of a call among all calls to a host, and when it was sent."""

    number: int
    at: float  # on the monotonic clock


class RateWindow(Struct):
    """A time window, and the number of calls a host accepts in it, learned from a refusal."""

    began_at: float = 0.0
    lasts_s: float = 0.0
    ends_at: float = 0.0
    most: int = 0  # 0: not known
    usual: int = 0  # calls that earlier windows took
    first: int = 0  # number of its first call; 0 before
    calls: int = 0  # sent and not refused
    full: int = 0  # windows in a row that were used up and not refused
    paused_until: float = 0.0
    since_pause: int = 0  # calls since then, sent and not refused
    doubted: bool = False  # a refusal ended too early, since the last full window
    widen_after: int = 2  # full windows: doubles each time a wider window was refused

    def take(self, number: int, now: float) -> None:
        """Counts a call that starts."""
        if not self.calls and not self.most:
            self.began_at = now
        self.first = self.first or number
        self.calls += 1
        self.since_pause += 1

    def give_back(self, number: int) -> None:
        """Does not count a refused call: of this window, or of the one from which its limit was learned."""
        self.since_pause -= 1
        if self.first and number >= self.first:
            self.calls -= 1
        elif not self.usual:
            self.most = max(0, self.most - 1)

    @property
    def free_at(self) -> float:
        """The earliest time of the next call."""
        return self.ends_at if self.most and self.calls >= self.most else self.began_at

    def renew(self, now: float) -> None:
        """Starts a new window after the end of this one, wider if it was full often enough."""
        if not self.most or now < self.ends_at:
            return
        self.full = self.full + 1 if self.calls >= self.most else 0
        self.doubted = self.doubted and not self.full
        self.usual = self.most
        if self.full >= self.widen_after:
            self.most += max(1, self.most // 2)
            self.full = 0
        self.began_at, self.ends_at, self.first, self.calls = now, now + self.lasts_s, 0, 0

    def after_refusal(self, resume_at: float) -> RateWindow:
        """The next window, after a pause; its limit is the number of accepted calls (0: unknown).

        If a limit is known and the refusal ends too early for it, only the second such refusal changes the limit.
        """
        share = (resume_at - self.began_at) / self.lasts_s if self.most else 1.0
        if share < SHORT and not self.doubted:
            self._wait(resume_at)
            return self
        began_at, calls = self.began_at, self.calls
        if not SHORT <= share <= LONG:
            began_at, calls = self.paused_until, self.since_pause
        if self.most and calls <= 0:  # a longer window has the calls of the one before
            began_at, calls = began_at - self.lasts_s, self.most
        return RateWindow(
            began_at=resume_at,
            lasts_s=resume_at - began_at,
            ends_at=2 * resume_at - began_at,
            most=calls,
            paused_until=resume_at,
            widen_after=2 if not self.most else min(MOST_PATIENT, 2 * self.widen_after),
        )

    def _wait(self, resume_at: float) -> None:
        """A pause in a window; at its begin, the host's own window begins later."""
        is_begin = resume_at - self.began_at < self.lasts_s * SHORT / 2
        self.ends_at = resume_at + self.lasts_s if is_begin else max(self.ends_at, resume_at)
        self.paused_until, self.since_pause, self.doubted = resume_at, 0, True


class Pace:
    """When the next call to a host may be sent: after its pauses, and not too many at once or in a time window.

    A refusal says something about the rate only if refusals come with the load: three in a row, of calls that were
    sent one after the other, or of one call. Such a limit delays all calls and halves the number of concurrent
    ones, which then grows back one by one. It also sets the number of calls per window for later windows, which
    try a higher number from time to time. Any other refusal delays the refused call only.

    If the host announces how many tokens are left, a call waits until there are enough for it.
    """

    def __init__(self) -> None:
        self.running = 0
        self._sent = 0
        self._most_running = math.inf
        self._resume_at = 0.0
        self._limited_at = -math.inf
        self._window = RateWindow()
        self._tokens = TokenBucket()
        self._last_answered = 0
        self._refused: dict[int, float] = {}  # numbers after the last answered one → the end of the refusal

    @property
    def ready_at(self) -> float:
        """The earliest time of the next call."""
        return max(self._resume_at, self._window.free_at, self._tokens.free_at(self._sent))

    def send(self, now: float) -> SentCall | None:
        """Counts a call that is sent now; None if it may not be sent yet."""
        self._window.renew(now)
        tries_more = 0 < self._window.usual <= self._window.calls  # than earlier windows took
        most_running = min(self._most_running, MOST_BEYOND_LIMIT) if tries_more else self._most_running
        if self.ready_at > now or self.running >= most_running:
            return None
        self.running += 1
        self._sent += 1
        self._window.take(self._sent, now)
        return SentCall(self._sent, now)

    def end(self) -> None:
        """Counts the end of a call."""
        self.running -= 1

    def accepted(self, call: SentCall) -> None:
        """The host did not refuse a call, so it does not refuse all calls."""
        self._last_answered = max(self._last_answered, call.number)
        self._refused = {number: end for number, end in self._refused.items() if number > self._last_answered}

    def announced(self, call: SentCall, allowance: Allowance, *, refused: bool) -> None:
        """The tokens that the host says are left, in its answer to a call."""
        self._tokens.see(allowance, call.number, call.at, refused=refused)

    def answered(self) -> None:
        """Lets more calls run at once."""
        self._most_running += 1 / self._most_running

    def refused(self, call: SentCall, now: float, delay: float, *, attempt: int, by_rate: bool) -> None:
        """Counts a refusal, and delays all calls if it is one of a limit.

        Of several concurrent calls, only the first such refusal changes the number of calls. `by_rate`: it is
        about the number of calls in a time.
        """
        self._window.give_back(call.number)
        run = self._refused_around(call.number, now + delay)
        if max(len(run), attempt) < REFUSALS_OF_A_LIMIT:
            return
        resume_at = max(run)  # one at random among them may be shorter
        self._resume_at = max(self._resume_at, resume_at)
        if call.at <= self._limited_at:
            return
        self._limited_at = now
        self._most_running = max(1.0, self.running / 2)
        if by_rate:
            self._window = self._window.after_refusal(resume_at)

    def _refused_around(self, number: int, ends_at: float) -> list[float]:
        """The ends of the refusals in a row that a refusal is one of."""
        if number < self._last_answered:
            return [ends_at]
        self._refused[number] = ends_at
        first = last = number
        while first - 1 in self._refused:
            first -= 1
        while last + 1 in self._refused:
            last += 1
        return [self._refused[each] for each in range(first, last + 1)]


class RunStopped(Exception):
    """The run was stopped before a call began."""

    def __init__(self) -> None:
        super().__init__("not sent: the run was stopped")


class Slot:
    """Permission for one call to be sent; released when its answer has arrived."""

    def __init__(self, enter: Callable[[], SentCall], limit: threading.Semaphore | None) -> None:
        self._enter = enter
        self._limit = limit
        self._holds_limit = False
        self.sent: SentCall | None = None
        self.allowance: Allowance | None = None  # in the headers of its answer

    def begin(self) -> None:
        """Waits until the call may be sent; the second time, returns at once. Raises RunStopped."""
        if self.sent is not None:
            return
        if self._limit is not None:
            self._limit.acquire()
            self._holds_limit = True
        self.sent = self._enter()

    @property
    def lasts_s(self) -> float:
        """Seconds since the call was sent; 0 before."""
        return 0.0 if self.sent is None else time.monotonic() - self.sent.at

    def release(self) -> None:
        """Lets another call be sent, after the answer has arrived."""
        if self._holds_limit and self._limit is not None:
            self._holds_limit = False
            self._limit.release()
