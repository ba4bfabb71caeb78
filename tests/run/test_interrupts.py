"""The first signal ends a run in order, the second at once."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from runevals.run.interrupts import handlers_restored, interruptible
from runevals.run.world.budget import Stop


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_requests_a_stop_and_the_second_interrupts(number):
    before, stop, requested = signal.getsignal(number), Stop(), threading.Event()
    stop.when_asked(requested.set)
    with interruptible(stop):
        os.kill(os.getpid(), number)
        assert requested.wait(10)
        assert stop.problem.code == "interrupted"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_another_thread_sets_no_handler():
    before, results = signal.getsignal(signal.SIGTERM), []

    def run():
        with handlers_restored() as may_be_set, interruptible(Stop()):
            results.append((may_be_set, signal.getsignal(signal.SIGTERM)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert results == [(False, before)]
