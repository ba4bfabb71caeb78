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
def handlers_restored() -> Iterator[bool]:
    """Restores the handlers of both signals afterwards; whether this thread may set them at all."""
    is_main = threading.current_thread() is threading.main_thread()
    before = [(number, signal.getsignal(number)) for number in _SIGNALS if is_main]
    try:
        yield is_main
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def interruptible(stop: Stop) -> Iterator[None]:
    """In this context the first SIGINT or SIGTERM requests a stop, and the next raises KeyboardInterrupt."""

    def first(_number: int, _frame: FrameType | None) -> None:
        for number in _SIGNALS:
            signal.signal(number, signal.default_int_handler)
        # Not from here: the main thread may hold a lock that the stop needs.
        threading.Thread(target=interrupt, daemon=True).start()

    def interrupt() -> None:
        notice(f"\nStopping: up to {GRACE_S:g} s for answers under way, then the reports. Again to stop at once.")
        stop.ask(Problem(code="interrupted", message="the run was interrupted"), grace_s=GRACE_S)

    with handlers_restored() as may_be_set:
        for number in _SIGNALS if may_be_set else ():
            signal.signal(number, first)
        yield
