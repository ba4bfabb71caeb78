"""Retries with back-off and full jitter; pauses and rate limits are shared by all calls to one host."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal, TypeVar

from runevals.models.http.pace import Pace, RunStopped, SentCall, Slot
from runevals.models.http.token_bucket import finite

T = TypeVar("T")
TryAgainKind = Literal["failed", "timeout", "rate_limited"]
FailureKind = Literal["failed", "timeout", "auth", "rate_limited", "unparseable"]

FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 60.0
DOWN_AFTER_S = 60.0
MOST_UNANSWERED = 20  # calls in a row
LOOK_EVERY_S = 0.5  # between checks for a stopped run


class TryAgain(Exception):
    """A temporary failure. `after_s` is the host's Retry-After, if any. With `pauses_host`, it is a refusal: if
    more follow, no other call is sent meanwhile. `of_host`: any other call may fail now, too."""

    def __init__(
        self,
        kind: TryAgainKind,
        message: str,
        after_s: float | None = None,
        *,
        pauses_host: bool = False,
        of_host: bool = False,
    ) -> None:
        self.kind = kind
        self.after_s = after_s
        self.pauses_host = pauses_host
        self.of_host = of_host or pauses_host
        self.attempts = 1
        super().__init__(message)


class CallFailed(Exception):
    """A call without an answer. `refused` means that the endpoint rejects every call."""

    def __init__(self, kind: FailureKind, message: str, *, refused: bool = False) -> None:
        self.kind: FailureKind = kind
        self.refused = refused
        super().__init__(message)


class Throttle:
    """Retry, back-off and rate-limit state of one host, shared by all calls to it.

    A refused call waits as the host's Retry-After says. Refusals that come with the load delay all calls (Pace).
    """

    def __init__(
        self,
        *,
        max_attempts: int = 5,
        max_retry_s: float = 120.0,
        first_delay_s: float = FIRST_DELAY_S,
        down_after_s: float = DOWN_AFTER_S,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """`first_delay_s` bounds the first pause; each later one doubles it, up to a minute.

        A host that answers none of many calls in a row and nothing for `down_after_s` is down: CallFailed says so.
        So is one that refuses all calls for as long and as often as one call is repeated.

        `max_retry_s` limits the sum of the pauses of one call, not its wait for a slot. When `stopped` returns
        true, nothing more is sent, and waiting calls fail.
        """
        self._stopped = stopped
        self.max_attempts = max_attempts
        self.max_retry_s = max_retry_s
        self.first_delay_s = first_delay_s
        self._condition = threading.Condition()
        self._pace = Pace()
        self._waiting_calls = 0
        self._rests: list[float] = []  # when the waits of refused calls end
        self._down_after_s = down_after_s
        self._unanswered = 0  # failed calls in a row
        self._last_answer_at: float | None = None  # time of the last answer, or of the first call
        self._refusals = 0  # in a row
        self._refused_since = 0.0
        self._random = random.Random()  # noqa: S311 - for jitter, not for secrets

    def call(self, send: Callable[[], T], give_up: Callable[[TryAgain], Exception]) -> T:
        """`send()`, repeated after each TryAgain up to the limits; then raises `give_up(last)`."""

        def send_in_slot(slot: Slot) -> T:
            slot.begin()
            return send()

        return self.call_in_slot(send_in_slot, give_up)

    def call_in_slot(
        self,
        send: Callable[[Slot], T],
        give_up: Callable[[TryAgain], Exception],
        limit: threading.Semaphore | None = None,
    ) -> T:
        """Like `call`, if a request takes time to prepare: `send` begins its slot when it sends the request.

        `limit` are how many calls of one kind may be under way.
        """
        remaining_s = self.max_retry_s
        for attempt in range(1, self.max_attempts + 1):
            slot = Slot(self._enter, limit)
            try:
                answer = send(slot)
            except RunStopped as stopped:
                self._leave(slot)
                raise give_up(TryAgain("failed", str(stopped))) from None
            except TryAgain as failure:
                failure.attempts = attempt
                delay = self._delay(attempt, failure.after_s)
                remaining_s -= delay
                # A pause that this call will not wait for does not delay other calls.
                responded = not failure.of_host and failure.kind != "timeout"
                self._leave(slot, failure, delay if remaining_s >= 0 else None, responded=responded)
                if attempt == self.max_attempts or remaining_s < 0 or self._refuses_all(failure):
                    raise self._final_error(failure, give_up(failure)) from failure
                self._rest(delay, visible=failure.pauses_host)
            except BaseException as error:
                self._leave(slot, responded=isinstance(error, CallFailed))
                raise
            else:
                self._leave(slot, succeeded=True)
                return answer
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _final_error(self, failure: TryAgain, error: Exception) -> Exception:
        """`error`; if the host is down, an error with `refused`, so that no more calls are made."""
        with self._condition:
            self._unanswered += failure.of_host
            unanswered, silent_s = self._unanswered, time.monotonic() - (self._last_answer_at or math.inf)
        for_long = silent_s >= self._down_after_s or (failure.after_s or 0.0) > self.max_retry_s
        if not isinstance(error, CallFailed):
            return error
        if self._refuses_all(failure):
            for_s = time.monotonic() - self._refused_since
            return CallFailed(
                error.kind, f"{error}; the host has refused every call for {for_s:.0f} s", refused=True
            )
        if failure.of_host and unanswered >= MOST_UNANSWERED and for_long:
            return CallFailed(error.kind, f"{error}; the same for {unanswered} calls in a row", refused=True)
        return error

    def _refuses_all(self, failure: TryAgain) -> bool:
        """Whether a host that refused a call answers nobody, for as long and as often as one call is repeated."""
        with self._condition:
            for_long = time.monotonic() - self._refused_since >= self.max_retry_s
            often = self._refusals >= self.max_attempts
            return failure.pauses_host and for_long and often and not self._pace.running

    def holds_s(self) -> float:
        """Seconds until the host may be called again; 0 if no call waits for that."""
        with self._condition:
            ready_at = self._pace.ready_at if self._waiting_calls else 0.0
            if not self._pace.running:
                ready_at = max(ready_at, min(self._rests, default=0.0))
            return max(0.0, ready_at - time.monotonic())

    def _delay(self, attempt: int, after_s: float | None) -> float:
        jitter = self._random.uniform(0.0, min(LONGEST_DELAY_S, self.first_delay_s * 2 ** (attempt - 1)))
        return jitter if after_s is None else after_s + 0.1 * jitter

    def _rest(self, delay: float, *, visible: bool) -> None:
        """The wait of one call, `visible` as one for the host."""
        ends_at = time.monotonic() + delay
        rests = self._rests if visible else []
        rests.append(ends_at)
        while not self._stopped() and (remaining := ends_at - time.monotonic()) > 0:
            time.sleep(min(remaining, LOOK_EVERY_S))
        rests.remove(ends_at)

    def _enter(self) -> SentCall:
        """Waits until a call may be sent, and counts it. Raises RunStopped."""
        with self._condition:
            while True:
                if self._stopped():
                    raise RunStopped
                now = time.monotonic()
                sent = self._pace.send(now)
                if sent is not None:
                    self._last_answer_at = self._last_answer_at or now
                    return sent
                wait_s = self._pace.ready_at - now
                self._waiting_calls += 1
                self._condition.wait(min(wait_s, LOOK_EVERY_S) if wait_s > 0 else LOOK_EVERY_S)
                self._waiting_calls -= 1

    def _leave(
        self,
        slot: Slot,
        failure: TryAgain | None = None,
        delay: float | None = None,
        *,
        succeeded: bool = False,
        responded: bool = False,
    ) -> None:
        """Ends a call; without `delay`, it is not repeated. `responded`: the host sent a response or an error."""
        slot.release()
        sent = slot.sent
        if sent is None:
            return
        with self._condition:
            now = time.monotonic()
            refusal = failure if failure is not None and failure.pauses_host else None
            if slot.allowance is not None:
                self._pace.announced(sent, slot.allowance, refused=refusal is not None)
            if refusal is not None:
                self._refusals += 1
                self._refused_since = sent.at if self._refusals == 1 else self._refused_since
                if delay is not None:
                    by_rate = refusal.kind == "rate_limited"
                    self._pace.refused(sent, now, delay, attempt=refusal.attempts, by_rate=by_rate)
            self._pace.end()
            if succeeded or responded:
                self._unanswered, self._refusals, self._last_answer_at = 0, 0, now
                self._pace.accepted(sent)
            if succeeded:
                self._pace.answered()
            self._condition.notify_all()


class Throttles(dict[str, Throttle]):
    """The throttle of each host, by name, created on first use."""

    def __init__(self, *, stopped: Callable[[], bool] = lambda: False) -> None:
        super().__init__()
        self._stopped = stopped

    def __missing__(self, host: str) -> Throttle:
        self[host] = throttle = Throttle(stopped=self._stopped)
        return throttle

    def longest_wait(self) -> tuple[str, float] | None:
        """The host with the longest current wait, and the seconds left; None if no call waits."""
        waits = [(host, throttle.holds_s()) for host, throttle in list(self.items())]
        host, wait_s = max(waits, key=lambda wait: wait[1], default=("", 0.0))
        return (host, wait_s) if wait_s > 0 else None


def failure_of_status(status: int, message: str, headers: Mapping[str, str]) -> TryAgain | CallFailed:
    """The failure for an HTTP status other than success: temporary or final."""
    text = f"{status}: {message}"
    if 300 <= status < 400:
        return CallFailed("failed", f"{status}: redirects, which is not followed; name the address behind it")
    if status in (401, 403):
        return CallFailed("auth", text, refused=True)
    if status == 410:
        return CallFailed("failed", f"410 Gone: {message}; it was retired, name another endpoint", refused=True)
    if status in (408, 409, 429) or status >= 500:
        kind: TryAgainKind = "rate_limited" if status in (429, 529) else "failed"
        return TryAgain(kind, text, retry_after_s(headers), pauses_host=status in (429, 503, 529))
    return CallFailed("failed", text)


def final_failure(last: TryAgain) -> CallFailed:
    """The failure of a call after its last attempt."""
    attempts = "1 attempt" if last.attempts == 1 else f"{last.attempts} attempts"
    return CallFailed(last.kind, f"{last} ({attempts})")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The pause that `retry-after-ms` or `Retry-After` asks for; None if there is none that can be read."""
    milliseconds, header = finite(headers.get("retry-after-ms")), headers.get("Retry-After")
    seconds = finite(header) if milliseconds is None else milliseconds / 1000
    return _seconds_until(header) if seconds is None else max(0.0, seconds)


def _seconds_until(header: str | None) -> float | None:
    """An HTTP date → seconds from now."""
    from email.utils import parsedate_to_datetime

    with suppress(ValueError):
        date = parsedate_to_datetime(header or "")
        return max(0.0, ((date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())
    return None
