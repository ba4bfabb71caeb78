"""Retry-After, pauses for everyone, patience that ends."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from runevals.throttle import Throttle, TryAgain, retry_after_s


@pytest.mark.parametrize(
    ("header", "seconds"), [(None, None), ("3", 3.0), ("0.5", 0.5), ("-1", 0.0), ("soon", None), ("", None)]
)
def test_retry_after_in_seconds(header, seconds):
    assert retry_after_s(header) == seconds


def test_retry_after_as_a_date():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after_s(date) == pytest.approx(30, abs=2)


def test_patience_ends_with_the_attempts():
    calls = []

    def send():
        calls.append(1)
        raise TryAgain("failed", "reset")

    with pytest.raises(LookupError, match="reset after 3"):
        Throttle(max_attempts=3, first_delay_s=0.001).call(send, lambda e: LookupError(f"{e} after {e.attempts}"))
    assert len(calls) == 3


def test_a_pause_longer_than_the_patience_is_not_waited_for():
    started = time.monotonic()
    with pytest.raises(LookupError):
        Throttle(max_retry_s=1).call(_raise(TryAgain("rate_limited", "429", 3600)), lambda e: LookupError())
    assert time.monotonic() - started < 1


def _raise(error):
    def send():
        raise error

    return send


def test_one_threads_pause_holds_the_others_next_call():
    throttle = Throttle(first_delay_s=0.001)
    limited = iter([TryAgain("rate_limited", "429", 0.5, pauses_host=True)])
    hit = threading.Event()

    def first():
        error = next(limited, None)
        if error is not None:
            hit.set()
            raise error
        return time.monotonic()

    thread = threading.Thread(target=throttle.call, args=(first, lambda e: e))
    thread.start()
    hit.wait()
    time.sleep(0.05)
    started = time.monotonic()
    assert throttle.call(time.monotonic, lambda e: e) - started > 0.3
    thread.join()
