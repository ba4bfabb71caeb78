"""The signed-rank test against flipping every sign by hand, and against published figures."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runevals.lib.statistics import signed_rank
from runevals.lib.statistics.signed_rank import signed_rank_test

# Darwin's maize, Fisher 1935; without ties, its W is known: 24 of 120, two-sided p = 0.0413 (R, wilcox.test).
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def mid_ranks(sizes):
    return [
        sum(other < size for other in sizes) + (sum(other == size for other in sizes) + 1) / 2 for size in sizes
    ]


def by_hand(differences):
    """The share of all flips whose positive ranks sum to at least what was seen."""
    known = [difference for difference in differences if difference]
    ranks = mid_ranks([abs(difference) for difference in known])
    seen = sum(rank for rank, difference in zip(ranks, known, strict=True) if difference > 0)
    sums = [
        sum(rank for rank, up in zip(ranks, signs, strict=True) if up)
        for signs in product((False, True), repeat=len(known))
    ]
    return sum(one >= seen for one in sums) / len(sums)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-4, 4) | st.floats(-2, 2).map(lambda value: round(value, 3)), max_size=9))
def test_the_exact_p_value_is_a_share_of_all_flips(differences):
    found = signed_rank_test(differences)
    assert found.exact
    assert found.rise_p_value == pytest.approx(by_hand(differences), abs=1e-15)
    assert found.pairs == sum(bool(difference) for difference in differences)


def test_the_signed_rank_test_agrees_with_textbook_examples():
    assert 2 * signed_rank_test(DARWIN).rise_p_value == pytest.approx(0.0413, abs=5e-5)


def test_sizes_that_differ_only_by_rounding_are_ties():
    assert signed_rank_test([0.1 + 0.2, -0.3, 0.5]) == signed_rank_test([0.3, -0.3, 0.5])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("digits", "tolerance"),
    [
        pytest.param(0, 0.05, id="many ties"),
        pytest.param(1, 0.02, id="some ties"),
        pytest.param(12, 0.02, id="no ties"),
    ],
)
def test_the_normal_approximation_is_close_to_the_exact_p_value(monkeypatch, sign, seed, digits, tolerance):
    rng = random.Random(seed)
    differences = [sign * round(rng.gauss(0.4, 1.5), digits) for _ in range(60)]
    exact = signed_rank_test(differences)
    monkeypatch.setattr(signed_rank, "EXACT_MAX_PAIRS", 0)
    normal = signed_rank_test(differences)
    assert not normal.exact
    assert normal.rise_p_value == pytest.approx(exact.rise_p_value, rel=tolerance, abs=1e-6)


def test_the_false_positive_rate_on_unchanged_pairs_is_below_alpha():
    rng = random.Random(2)
    found = [
        signed_rank_test([rng.lognormvariate(0, 1) - rng.lognormvariate(0, 1) for _ in range(size)]).rise_p_value
        for size in (8, 30, 150)
        for _ in range(1500)
    ]
    assert sum(p <= 0.01 for p in found) == pytest.approx(0.01 * len(found), rel=0.3)
    assert sum(p <= 0.1 for p in found) == pytest.approx(0.1 * len(found), rel=0.1)
