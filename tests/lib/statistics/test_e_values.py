"""E-values of a loss, against every outcome of a few pairs and against laws they must keep."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runevals.lib.statistics.e_values import Pairs, bounds, needed, paired

COUNTS = st.integers(0, 30).flatmap(
    lambda pairs: st.tuples(st.just(pairs), st.integers(0, pairs), st.integers(0, pairs))
)
VALUES = st.sampled_from([True, False, None])


def of(pairs, base, head):
    return Pairs(pairs=pairs, base_passes=base, head_passes=head)


def expected(pairs, base_rate, head_rate):
    """The mean e-value over every outcome of so many pairs."""

    def chance(passes, rate):
        return comb(pairs, passes) * rate**passes * (1 - rate) ** (pairs - passes)

    return sum(
        chance(base, base_rate) * chance(head, head_rate) * of(pairs, base, head).e_value
        for base, head in product(range(pairs + 1), repeat=2)
    )


@pytest.mark.parametrize("pairs", [1, 2, 5, 12])
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.385, 0.5, 0.69, 0.9, 1.0])
@pytest.mark.parametrize("gain", [0.0, 0.1, 0.5])
def test_without_a_loss_the_mean_is_at_most_one(pairs, rate, gain):
    assert expected(pairs, rate, min(1.0, rate + gain)) <= 1 + 1e-9


@pytest.mark.parametrize("rate", [0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("level", [0.03, 0.2])
def test_looking_after_every_pair_costs_nothing(rate, level):
    """The chance of ever reaching 1/level in 30 pairs, by following every path."""
    chances, ever = {(0, 0): 1.0}, 0.0
    for pairs in range(1, 31):
        following: dict[tuple[int, int], float] = {}
        for (base, head), chance in chances.items():
            for x, y in product((0, 1), repeat=2):
                path = chance * (rate if x else 1 - rate) * (rate if y else 1 - rate)
                following[base + x, head + y] = following.get((base + x, head + y), 0.0) + path
        reached = {counts for counts in following if of(pairs, *counts).e_value >= 1 / level}
        ever += sum(following.pop(counts) for counts in reached)
        chances = following
    assert ever <= level


@given(COUNTS)
def test_a_further_loss_never_lowers_it(counts):
    pairs, base, head = counts
    e_value = of(pairs, base, head).e_value
    assert base == pairs or of(pairs, base + 1, head).e_value > e_value
    assert head == 0 or of(pairs, base, head - 1).e_value > e_value
    assert of(pairs + 1, base + 1, head).e_value > e_value


@given(st.lists(VALUES, max_size=12), st.lists(VALUES, max_size=12), st.data())
def test_a_missing_value_is_between_its_bounds(base, head, data):
    filled = [[data.draw(st.booleans()) if one is None else one for one in side] for side in (base, head)]
    best, worst = bounds(base, head)
    assert best.e_value <= paired(*filled).e_value <= worst.e_value


@pytest.mark.parametrize(
    ("counts", "target", "at_best", "more"),
    [
        pytest.param((0, 0, 0), 200, True, 5, id="a dead case among one"),
        pytest.param((0, 0, 0), 2000, True, 7, id="among ten"),
        pytest.param((5, 5, 0), 200, False, 0, id="enough already"),
        pytest.param((8, 4, 4), 200, False, None, id="no loss to be expected"),
        pytest.param((8, 4, 4), 200, True, 14, id="but possible"),
    ],
)
def test_how_many_more_pairs_settle_it(counts, target, at_best, more):
    assert of(*counts).pairs_until(target, at_best=at_best) == more
    if more and at_best:
        pairs, base, head = counts
        assert of(pairs + more, base + more, head).e_value >= target
        assert of(pairs + more - 1, base + more - 1, head).e_value < target


def test_each_of_several_hypotheses_needs_more():
    assert needed(1, 0.005) == pytest.approx(200)
    assert needed(10, 0.005) == pytest.approx(2000)
    assert needed(0, 0.03) == pytest.approx(1 / 0.03)
