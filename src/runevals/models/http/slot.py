"""Permission for one call to a host."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from runevals.models.http.pace import SentCall
from runevals.models.http.token_bucket import Allowance


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
