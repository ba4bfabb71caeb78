"""The pass rates that the runs of a suite make probable."""

from __future__ import annotations

import random
from collections import Counter
from math import fsum

import pytest

from runevals.lib.statistics.chance import beta_weights


def means(counts):
    """The mean rate of a case, and how much of the variance of one run lies between cases."""
    weights = beta_weights(counts)
    total = fsum(weight for weight, _ in weights)
    rate = fsum(weight * a / (a + b) for weight, (a, b) in weights) / total
    return rate, fsum(weight / (a + b + 1) for weight, (a, b) in weights) / total


@pytest.mark.parametrize(
    ("rate", "between"),
    [
        (lambda _: 1.0, None),
        (lambda _: 0.9, (0.0, 0.05)),
        (lambda _: 0.3, (0.0, 0.05)),
        (lambda rng: rng.betavariate(0.6, 0.2), (0.4, 0.7)),
        (lambda rng: rng.betavariate(3, 1), (0.1, 0.3)),
    ],
)
def test_many_cases_tell_their_mean_rate_and_how_alike_they_are(rate, between):
    rng = random.Random(1)
    rates = [rate(rng) for _ in range(400)]
    counts = Counter((sum(rng.random() < each for _ in range(6)), 6) for each in rates)
    found, share = means(counts)
    assert found == pytest.approx(sum(rates) / 400, abs=0.02)
    if between is not None:  # of cases that always pass, it cannot be known
        assert between[0] <= share <= between[1]


def test_a_few_cases_that_always_passed_leave_little_else():
    assert means({(6, 6): 20})[0] >= 0.99
    assert means({(2, 2): 1})[0] <= 0.95
