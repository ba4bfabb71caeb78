"""How many calls are under way, and what does not count as one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from runevals.models.http.pace import RunStopped
from runevals.models.http.throttle import Throttle, TryAgain


class Counted:
    """How many calls are under way at once, at most."""

    def __init__(self):
        self._lock = threading.Lock()
        self.now = self.most = 0

    def __enter__(self):
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_):
        with self._lock:
            self.now -= 1


def test_the_number_of_running_calls_is_limited_while_others_wait():
    throttle, places, under_way = Throttle(), threading.BoundedSemaphore(2), Counted()
    prepared = threading.Barrier(6, timeout=60)

    def send(turn):
        prepared.wait()  # all six get here, though only two may go on
        turn.begin()
        with under_way:
            threading.Event().wait(0.02)
        turn.release()
        return "answered"

    with ThreadPoolExecutor(6) as pool:
        calls = [pool.submit(throttle.call_in_slot, send, ValueError, places) for _ in range(6)]
        assert [call.result() for call in calls] == ["answered"] * 6
    assert under_way.most == 2


@pytest.mark.parametrize("failure", [TryAgain("failed", "reset"), KeyError("ours")])
def test_a_failed_call_releases_its_slot(failure):
    places = threading.BoundedSemaphore(1)

    def send(turn):
        turn.begin()
        raise failure

    with pytest.raises((LookupError, KeyError)):
        Throttle(max_attempts=2, first_delay_s=0.001).call_in_slot(send, LookupError, places)
    assert places.acquire(blocking=False)


def test_a_call_that_waits_for_a_retry_holds_no_slot():
    places, rests = threading.BoundedSemaphore(1), threading.Event()

    def fails(turn):
        turn.begin()
        rests.set()
        raise TryAgain("failed", "reset", 20)

    done = threading.Event()
    throttle = Throttle(max_attempts=2, stopped=done.is_set)
    with ThreadPoolExecutor(1) as pool:
        resting = pool.submit(throttle.call_in_slot, fails, LookupError, places)
        assert rests.wait(60)
        assert throttle.call_in_slot(lambda turn: turn.begin() or "answered", ValueError, places) == "answered"
        done.set()
        with pytest.raises(LookupError, match="was stopped"):
            resting.result()


def test_after_a_stop_no_call_starts_and_no_slot_is_held():
    places = threading.BoundedSemaphore(1)

    def send(turn):
        with pytest.raises(RunStopped):
            turn.begin()
        raise RunStopped

    with pytest.raises(LookupError, match="not sent: the run was stopped"):
        Throttle(stopped=lambda: True).call_in_slot(send, LookupError, places)
    assert places.acquire(blocking=False)
