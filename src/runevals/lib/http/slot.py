"""One call among those that wait for the same host."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class RunStopped(Exception):
    """The run was stopped before a call began."""

    def __init__(self) -> None:
        super().__init__("nothing more is sent: the run was stopped")


class Slot:
    """When one call may go out, and until when the next must wait for it."""

    def __init__(self, enter: Callable[[], float], limit: threading.Semaphore | None) -> None:
        self._enter = enter
        self._limit = limit
        self._holds_limit = False
        self.entered_at: float | None = None  # on the monotonic clock

    def begin(self) -> None:
        """Waits until it may go out; a second time, it may at once. Raises RunStopped."""
        if self.entered_at is not None:
            return
        if self._limit is not None:
            self._limit.acquire()
            self._holds_limit = True
        self.entered_at = self._enter()

    @property
    def lasts_s(self) -> float:
        """Seconds since it came; 0 before."""
        return 0.0 if self.entered_at is None else time.monotonic() - self.entered_at

    def release(self) -> None:
        """The answer is there: another call may go out."""
        if self._holds_limit and self._limit is not None:
            self._holds_limit = False
            self._limit.release()
