"""Trying again, politely: pauses shared by all calls to one host, back-off with full jitter."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, TypeVar

T = TypeVar("T")
TryAgainKind = Literal["failed", "timeout", "rate_limited"]

FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 60.0


class TryAgain(Exception):
    """A failure that may pass. `after_s` is what the host asked for, None if it did not; with
    `pauses_host`, no other call is sent meanwhile either."""

    def __init__(
        self, kind: TryAgainKind, message: str, after_s: float | None = None, *, pauses_host: bool = False
    ) -> None:
        self.kind = kind
        self.after_s = after_s
        self.pauses_host = pauses_host
        self.attempts = 1
        super().__init__(message)


class Throttle:
    """The patience with one host. A pause it asks for holds every thread's next call."""

    def __init__(
        self, *, max_attempts: int = 5, max_retry_s: float = 120.0, first_delay_s: float = FIRST_DELAY_S
    ) -> None:
        """`first_delay_s` bounds the first pause; each later one doubles it, up to a minute."""
        self.max_attempts = max_attempts
        self.max_retry_s = max_retry_s
        self.first_delay_s = first_delay_s
        self._lock = threading.Lock()
        self._resume_at = 0.0
        self._random = random.Random()  # noqa: S311 - spreads calls out, keeps nothing secret

    def call(self, send: Callable[[], T], give_up: Callable[[TryAgain], Exception]) -> T:
        """`send()`, again after each TryAgain until attempts or time run out; then raises `give_up(last)`."""
        deadline = time.monotonic() + self.max_retry_s
        for attempt in range(1, self.max_attempts + 1):
            self._wait()
            try:
                return send()
            except TryAgain as failure:
                failure.attempts = attempt
                delay = self._delay(attempt, failure.after_s)
                if attempt == self.max_attempts or time.monotonic() + delay > deadline:
                    raise give_up(failure) from failure
                self._pause(delay, everyone=failure.pauses_host)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _delay(self, attempt: int, after_s: float | None) -> float:
        ceiling = min(LONGEST_DELAY_S, self.first_delay_s * 2 ** (attempt - 1))
        jitter = self._random.uniform(0.0, ceiling)
        return jitter if after_s is None else after_s + 0.1 * jitter

    def _pause(self, delay: float, *, everyone: bool) -> None:
        with self._lock:
            if everyone:
                self._resume_at = max(self._resume_at, time.monotonic() + delay)
        if not everyone:
            time.sleep(delay)

    def _wait(self) -> None:
        while (left := self._resume_at - time.monotonic()) > 0:
            time.sleep(left)


def retry_after_s(header: str | None) -> float | None:
    """A Retry-After header, seconds or an HTTP date → seconds from now, None if absent or unreadable."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
