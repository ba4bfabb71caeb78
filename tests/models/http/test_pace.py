"""A rate limit is told from refusals at random: by the order of calls and a clock of the test's own."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque

import pytest

from runevals.models.http.pace import REFUSALS_OF_A_LIMIT, Pace
from runevals.models.http.token_bucket import allowance_of

LATENCY_S, REFUSAL_S = 0.5, 0.001  # until an answer on average, until a refusal


class Host:
    """Accepts `most` calls in a window, refuses `share` of them at random, and counts what it refused."""

    def __init__(self, *, most=10**9, window_s=60.0, share=0.0, seed=7):
        self.most, self.window_s, self.share = most, window_s, share
        self.calls = self.at_random = self.over_limit = 0
        self._random = random.Random(seed)
        self._began_at, self._taken = 0.0, 0

    def retry_after_s(self, now):
        self.calls += 1
        if self._random.random() < self.share:
            self.at_random += 1
            return 1.0
        if now >= self._began_at + self.window_s or not self._taken:
            self._began_at, self._taken = now, 0
        if self._taken == self.most:
            self.over_limit += 1
            return self._began_at + self.window_s - now
        self._taken += 1
        return None

    def allowance(self, now):
        """What its headers announce: nothing."""


class TokenHost(Host):
    """Takes from 500 to 1,500 tokens a call, of 50,000 a minute; announces how many are left, or `headers`."""

    def __init__(self, *, headers=None, most=50_000, **words):
        super().__init__(**words)
        self.most, self.left, self._at = most, most, 0.0
        self._headers = headers

    def retry_after_s(self, now):
        self.calls += 1
        self.left, self._at = min(self.most, self.left + (now - self._at) * self.most / 60), now
        cost = self._random.uniform(500, 1500)
        if cost > self.left:
            self.over_limit += 1
            return (cost - self.left) / self.most * 60
        self.left -= cost
        return None

    def allowance(self, now):
        headers = {
            "limit": self.most,
            "remaining": round(self.left),
            "reset": (self.most - self.left) / self.most * 60,
        }
        headers["reset"] = f"{headers['reset']:.3f}s"
        headers |= self._headers or {}
        return allowance_of({f"x-ratelimit-{name}-tokens": str(value) for name, value in headers.items()})


def ride(host, calls, workers):
    """Seconds until so many calls are answered, each worker with one call at a time; arrival is out of order."""
    pace, chance, order = Pace(), random.Random(1), itertools.count()
    events, ready, left, answered = [], deque(), calls - workers, 0
    ready.extend([1] * workers)  # the attempt of each call that is to be sent
    now = 0.0

    def at(time, name, *words):
        heapq.heappush(events, (time, next(order), name, words))

    while answered < calls:
        while ready and (sent := pace.send(now)) is not None:
            at(now + chance.uniform(0, 0.005), "arrives", sent, ready.popleft())
        if ready and pace.ready_at > now:
            at(pace.ready_at, "ready")
        now, _, name, words = heapq.heappop(events)
        match name:
            case "arrives":
                after_s = host.retry_after_s(now)
                words = (*words, host.allowance(now))
                takes_s = chance.uniform(0.5, 1.5) * LATENCY_S if after_s is None else REFUSAL_S
                at(now + takes_s, "ends", *words, after_s)
            case "rested":
                ready.append(*words)
            case "ends":
                sent, attempt, allowance, after_s = words
                if allowance is not None:
                    pace.announced(sent, allowance, refused=after_s is not None)
                if after_s is None:
                    pace.end()
                    pace.accepted(sent)
                    pace.answered()
                    answered += 1
                    if left:
                        left -= 1
                        ready.append(1)
                else:
                    delay = math.ceil(after_s) + chance.uniform(0, 0.1)
                    pace.refused(sent, now, delay, attempt=attempt, by_rate=True)
                    pace.end()
                    at(now + delay, "rested", attempt + 1)
    return now


@pytest.mark.parametrize("workers", [1, 8, 32])
@pytest.mark.parametrize("share", [0.002, 0.01, 0.05])
def test_refusals_at_random_delay_the_refused_calls_only(share, workers):
    host = Host(share=share)
    took_s = ride(host, 1000, workers)
    assert took_s <= 1.5 * (1000 * LATENCY_S + host.at_random * 1.0) / workers


@pytest.mark.parametrize(("most", "workers"), [(50, 4), (50, 16), (50, 32), (500, 16), (500, 32)])
def test_a_limit_is_learned(most, workers):
    host = Host(most=most)
    took_s = ride(host, 8 * most, workers)
    assert took_s <= 1.15 * (7 * 60 + most / workers * LATENCY_S)
    assert host.over_limit <= 0.06 * host.calls


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.01, 0.05])
@pytest.mark.parametrize("most", [50, 500])
def test_a_limit_is_learned_among_refusals_at_random(most, share, seed):
    host = Host(most=most, share=share, seed=seed)
    took_s = ride(host, 8 * most, 16)
    assert took_s <= 1.15 * (7 * 60 + (most / 16) * LATENCY_S + host.at_random / 16)
    assert host.over_limit <= 0.06 * host.calls


def test_a_limit_is_learned_after_another_one_that_chance_made():
    """Three refusals at random in a row, early: the window is too short, and becomes the host's own."""

    class Unlucky(Host):
        def retry_after_s(self, now):
            if self.calls in range(20, 23):
                self.calls += 1
                return 1.0
            return super().retry_after_s(now)

    assert ride(Unlucky(most=500), 4000, 16) <= 1.15 * (7 * 60 + 500 / 16 * LATENCY_S)


@pytest.mark.parametrize("workers", [1, 4, 16, 32])
def test_announced_tokens_are_not_exceeded(workers):
    host = TokenHost()
    took_s = ride(host, 400, workers)
    assert took_s <= 1.15 * max(350 / 50 * 60, 400 * LATENCY_S / workers)
    assert host.over_limit <= 0.06 * host.calls


@pytest.mark.parametrize(
    "headers",
    [
        {"remaining": 0, "reset": "1h"},
        {"remaining": 7, "reset": "1h"},
        {"reset": "soon"},
        {"reset": "0s"},
        {"limit": 1},
    ],
    ids=str,
)
def test_announcements_that_are_not_true_delay_nothing(headers):
    host = TokenHost(headers=headers, most=10**9)
    assert ride(host, 400, 16) <= 1.15 * 400 * LATENCY_S / 16


def refuse(pace, calls, *, attempt=1):
    for call in calls:
        pace.refused(call, 0.0, 30.0, attempt=attempt, by_rate=True)
        pace.end()


def test_refusals_in_a_row_pause_all_calls():
    pace = Pace()
    calls = [pace.send(0.0) for _ in range(REFUSALS_OF_A_LIMIT)]
    refuse(pace, calls[1:])
    assert pace.ready_at == 0.0
    refuse(pace, calls[:1])  # its refusal arrived last
    assert (pace.ready_at, pace.send(29.9)) == (30.0, None)
    assert pace.send(30.0) is not None


def test_a_pause_lasts_as_the_longest_of_its_refusals():
    """One at random among those of a limit may be short, and the last to arrive."""
    pace = Pace()
    *calls, last = [pace.send(0.0) for _ in range(REFUSALS_OF_A_LIMIT)]
    refuse(pace, calls)
    pace.refused(last, 0.0, 1.0, attempt=1, by_rate=True)
    assert pace.ready_at == 30.0


def test_an_answer_to_a_later_call_explains_a_refusal():
    pace = Pace()
    *calls, last = [pace.send(0.0) for _ in range(REFUSALS_OF_A_LIMIT + 1)]
    pace.accepted(last)
    refuse(pace, calls)
    assert pace.ready_at == 0.0


def test_a_call_under_way_between_refusals_may_yet_explain_them():
    pace = Pace()
    calls = [pace.send(0.0) for _ in range(2 * REFUSALS_OF_A_LIMIT)]
    refuse(pace, calls[::2])
    assert pace.ready_at == 0.0


def test_one_call_that_is_refused_again_and_again_pauses_all_calls():
    pace = Pace()
    call, later = pace.send(0.0), pace.send(0.0)
    pace.accepted(later)
    refuse(pace, [call], attempt=REFUSALS_OF_A_LIMIT)
    assert pace.ready_at == 30.0
