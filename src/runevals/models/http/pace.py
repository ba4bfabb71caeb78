"""When the next call to a host may be sent; tells a rate limit from refusals at random."""

from __future__ import annotations

import math

from msgspec import Struct

from runevals.models.http.rate_window import RateWindow
from runevals.models.http.token_bucket import Allowance, TokenBucket

REFUSALS_OF_A_LIMIT = 3  # in a row
MOST_BEYOND_LIMIT = 2  # calls at once that try whether a limit became higher


class SentCall(Struct, frozen=True):
    """The place of a call among all calls to a host, and when it was sent."""

    number: int
    at: float  # on the monotonic clock


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
        most_running = (
            min(self._most_running, MOST_BEYOND_LIMIT) if self._window.tries_more else self._most_running
        )
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
