"""Retry-After, pauses for everyone, patience that ends."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from runevals.models.http.pace import REFUSALS_OF_A_LIMIT
from runevals.models.http.throttle import (
    MOST_UNANSWERED,
    CallFailed,
    Throttle,
    TryAgain,
    final_failure,
    retry_after_s,
)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-1"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "inf"}, None),
        ({"retry-after-ms": "300"}, 0.3),
        ({"retry-after-ms": "300", "Retry-After": "1"}, 0.3),
        ({"retry-after-ms": "soon", "Retry-After": "1"}, 1.0),
        ({"retry-after-ms": "-5"}, 0.0),
    ],
)
def test_retry_after_in_seconds(headers, seconds):
    assert retry_after_s(headers) == seconds


def test_retry_after_as_a_date():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after_s({"Retry-After": date}) == pytest.approx(30, abs=2)


def test_retries_end_after_the_maximum_number_of_attempts():
    calls = []

    def send():
        calls.append(1)
        raise TryAgain("failed", "reset")

    with pytest.raises(LookupError, match="reset after 3"):
        Throttle(max_attempts=3, first_delay_s=0.001).call(send, lambda e: LookupError(f"{e} after {e.attempts}"))
    assert len(calls) == 3


def test_a_retry_after_above_the_limit_is_not_waited_for():
    started = time.monotonic()
    with pytest.raises(LookupError):
        Throttle(max_retry_s=1).call(_raise(TryAgain("rate_limited", "429", 30)), lambda e: LookupError())
    assert time.monotonic() - started < 30


def test_a_retry_after_above_the_limit_does_not_delay_other_calls():
    throttle = Throttle(max_retry_s=1)
    with pytest.raises(LookupError):
        throttle.call(_raise(TryAgain("rate_limited", "429", 3600, pauses_host=True)), lambda e: LookupError())
    assert throttle.call(lambda: "answered", lambda e: e) == "answered"


def _raise(error):
    def send():
        raise error

    return send


DOWN = TryAgain("failed", "refused", of_host=True)


def _lost(throttle, error=DOWN, calls=MOST_UNANSWERED):
    """The failures of so many calls that nobody answers."""
    failures = []
    for _ in range(calls):
        with pytest.raises(CallFailed) as raised:
            throttle.call(_raise(error), final_failure)
        failures.append(raised.value)
    return failures


def test_a_host_that_is_down_is_not_called_again():
    *before, last = _lost(Throttle(max_attempts=1, down_after_s=0))
    assert last.refused
    assert str(last) == f"refused (1 attempt); the same for {MOST_UNANSWERED} calls in a row"
    assert not any(failure.refused for failure in before)


def test_a_short_silence_does_not_mark_a_host_as_down():
    assert not any(failure.refused for failure in _lost(Throttle(max_attempts=1), calls=2 * MOST_UNANSWERED))


@pytest.mark.parametrize(
    "word",
    [
        lambda: "answered",
        _raise(CallFailed("failed", "400")),
        _raise(TryAgain("failed", "500")),
    ],
)
def test_any_answer_between_failures_keeps_a_host_up(word):
    throttle = Throttle(max_attempts=1, down_after_s=0)
    for _ in range(3):
        assert not any(failure.refused for failure in _lost(throttle, calls=MOST_UNANSWERED - 1))
        with suppress(CallFailed):
            throttle.call(word, final_failure)


def test_timeouts_do_not_mark_a_host_as_down():
    failures = _lost(Throttle(max_attempts=1, down_after_s=0), TryAgain("timeout", "late"), 2 * MOST_UNANSWERED)
    assert not any(failure.refused for failure in failures)


def test_a_host_with_a_retry_after_above_the_limit_is_down_at_once():
    error = TryAgain("rate_limited", "429", 3600, pauses_host=True)
    assert _lost(Throttle(), error)[-1].refused


def test_a_host_that_refuses_every_call_for_long_is_down():
    """However long a call of its own would wait, and with one call at a time, too."""
    throttle, sent = Throttle(max_retry_s=0.5, first_delay_s=0.001), []
    refusal = TryAgain("rate_limited", "429", 0.1, pauses_host=True)

    def send():
        sent.append(time.monotonic())
        raise refusal

    failures = []
    while not (failures and failures[-1].refused) and len(failures) < 100:
        with pytest.raises(CallFailed) as raised:
            throttle.call(send, final_failure)
        failures.append(raised.value)
    assert failures[-1].refused
    assert "the host has refused every call for " in str(failures[-1])
    assert len(sent) >= 5
    assert sent[-1] - sent[0] >= 0.4


def test_a_host_is_not_down_while_a_call_is_under_way():
    throttle, done, sent = Throttle(max_retry_s=0, down_after_s=0), threading.Event(), threading.Event()
    refusal = TryAgain("rate_limited", "429", 0.001, pauses_host=True)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(throttle.call, lambda: sent.set() or done.wait(30), final_failure)
        sent.wait(30)
        assert not any(failure.refused for failure in _lost(throttle, refusal, calls=MOST_UNANSWERED - 1))
        done.set()
        assert call.result()
    assert not any(failure.refused for failure in _lost(throttle, refusal, calls=4))  # an answer came between
    assert _lost(throttle, refusal, calls=1)[0].refused


@contextmanager
def _refused_calls(count, after_s):
    """A throttle, and concurrent calls that are all refused once → when each was refused, and when answered."""
    over, together, refused_at = threading.Event(), threading.Barrier(count), threading.local()
    throttle = Throttle(first_delay_s=0.001, stopped=over.is_set)

    def send():
        if hasattr(refused_at, "time"):
            return refused_at.time, time.monotonic()
        together.wait(60)
        refused_at.time = time.monotonic()
        raise TryAgain("rate_limited", "429", after_s, pauses_host=True)

    with ThreadPoolExecutor(count) as pool:
        calls = [pool.submit(throttle.call, send, final_failure) for _ in range(count)]
        while not throttle.holds_s() and not all(call.done() for call in calls):
            time.sleep(0.01)  # until the last of them was refused
        try:
            yield throttle, calls
        finally:
            over.set()


def test_a_refused_call_waits_and_no_other_does():
    with _refused_calls(1, after_s=60) as (throttle, [refused]):
        assert throttle.call(lambda: "answered", final_failure) == "answered"
        assert not refused.done()
    assert isinstance(refused.exception(), CallFailed)


def test_refusals_in_a_row_delay_the_calls_of_all_threads():
    with _refused_calls(REFUSALS_OF_A_LIMIT, after_s=1) as (throttle, calls):
        other_at = throttle.call(time.monotonic, final_failure)
        for call in calls:
            refused_at, answered_at = call.result(60)
            assert answered_at - refused_at >= 1.0
            assert other_at - refused_at >= 1.0


def test_the_wait_of_the_only_call_is_shown():
    done = threading.Event()
    throttle = Throttle(max_attempts=2, stopped=done.is_set)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(
            throttle.call, _raise(TryAgain("rate_limited", "429", 50, pauses_host=True)), ValueError
        )
        while not throttle.holds_s() and not call.done():
            time.sleep(0.01)
        assert 0 < throttle.holds_s() <= 50.1
        done.set()


class Host:
    """Takes `most` calls in a window of `window_s`, refuses the others, and counts what it saw."""

    def __init__(self, most, window_s):
        self.most, self.window_s = most, window_s
        self.refused = self.running = self.most_running = 0
        self._lock = threading.Lock()
        self._began_at, self._taken = None, 0

    def call(self):
        with self._lock:
            now = time.monotonic()
            if self._began_at is None or now >= self._began_at + self.window_s:
                self._began_at, self._taken = now, 0
            after_s = self._began_at + self.window_s - now if self._taken == self.most else None
            self.refused += after_s is not None
            self._taken += after_s is None
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        time.sleep(0.01)
        with self._lock:
            self.running -= 1
        if after_s is not None:
            raise TryAgain("rate_limited", "429", after_s, pauses_host=True)
        return True


def test_a_rate_limit_is_learned_and_no_call_is_lost():
    host, throttle = Host(10, 0.5), Throttle(max_attempts=20, first_delay_s=0.001)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: throttle.call(host.call, lambda error: error), range(40)))
    assert found == [True] * 40
    assert host.refused <= 40  # up to 8 in the first burst, and few later; without learning there are hundreds


def test_fewer_calls_are_under_way_after_a_refusal_and_they_grow_back():
    host, throttle = Host(1000, 60), Throttle(first_delay_s=0.001)
    together = threading.Barrier(8)
    refused = threading.local()

    def send():
        if not hasattr(refused, "once"):
            refused.once = True
            together.wait()
            raise TryAgain("failed", "503", 0.01, pauses_host=True)
        return host.call()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: throttle.call(send, lambda error: error), range(8)))
        assert host.most_running <= 5
        list(pool.map(lambda _: throttle.call(host.call, lambda error: error), range(200)))
    assert host.most_running == 8
