"""Interrupts: the first ends a run in order, the second at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from runevals.lib.terminal import notice
from runevals.records import Problem
from runevals.run.world.budget import GRACE_S, Stop

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible(stop: Stop) -> Iterator[None]:
    """In this context the first SIGINT or SIGTERM requests a stop, and the next raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        for number in _SIGNALS:
            signal.signal(number, signal.default_int_handler)
        # Not from here: the main thread may hold a lock that the stop needs.
        threading.Thread(target=interrupt, daemon=True).start()

    def interrupt() -> None:
        notice(f"\nStopping: up to {GRACE_S:g} s for answers under way, then the reports. Again to stop at once.")
        stop.ask(Problem(code="interrupted", message="the run was interrupted"), grace_s=GRACE_S)

    before = [signal.signal(number, first) for number in _SIGNALS]
    try:
        yield
    finally:
        for number, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(number, handler)
