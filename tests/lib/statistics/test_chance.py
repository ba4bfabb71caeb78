"""What an unchanged suite shows by chance, as its own runs predict it."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runevals.lib.statistics.chance import Shape, binomial_tail, chance


def shape(base, head, runs=3):
    return Shape(base_passes=base, base_runs=runs, head_passes=head, head_runs=runs)


def suite(rates, runs, seed):
    """An unchanged suite: its cases have these pass rates."""
    rng = random.Random(seed)

    def passes(rate):
        return sum(rng.random() < rate for _ in range(runs))

    return Counter(shape(passes(rate), passes(rate), runs) for rate in rates)


@settings(deadline=None)
@given(st.integers(0, 12), st.integers(0, 10), st.integers(1, 99))
def test_the_tail_is_the_sum_of_its_terms(number, least, percent):
    rate = Fraction(percent, 100)
    exact = sum(comb(number, k) * rate**k * (1 - rate) ** (number - k) for k in range(least, number + 1))
    assert binomial_tail(least, number, percent / 100) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize(
    ("least", "number", "rate", "tail"),
    [
        pytest.param(5000, 10_000, 0.5, 0.504, id="many trials"),
        pytest.param(10, 10_000, 0.5, 1.0, id="far below the mean"),
        pytest.param(9000, 10_000, 0.5, 0.0, id="far above the mean"),
        pytest.param(2, 30, 0.5**10, 0.00041, id="a small tail is no difference of large ones"),
    ],
)
def test_the_tail_of_large_numbers(least, number, rate, tail):
    assert binomial_tail(least, number, rate) == pytest.approx(tail, abs=1e-3 * max(tail, 0.01))


@pytest.mark.parametrize(
    ("others", "runs", "probability"),
    [
        pytest.param({(5, 5): 29}, 5, (0.0, 0.01), id="five runs a side of a steady suite"),
        pytest.param({(3, 3): 20, (2, 3): 3, (3, 2): 4, (1, 1): 2}, 3, (0.02, 0.2), id="three of a noisy one"),
        pytest.param({(1, 1): 80, (0, 0): 11, (0, 1): 8}, 1, (0.9, 1.0), id="one run a side: gains as well"),
    ],
)
def test_what_a_lost_case_means_depends_on_the_suite(others, runs, probability):
    shapes = {shape(*passes, runs): number for passes, number in others.items()}
    shapes[shape(runs, 0, runs)] = 1
    found = chance(shapes)
    assert found.lost == 1
    assert probability[0] <= found.probability <= probability[1]


def test_the_sentence_has_the_number_that_chance_predicts():
    shapes = {shape(1, 1, 1): 80, shape(0, 0, 1): 11, shape(0, 1, 1): 8, shape(1, 0, 1): 6}
    found = chance(shapes)
    assert 4 <= found.expected <= 9
    assert found.probability > 0.03


def test_the_bound_holds_for_every_pass_rate():
    shapes = {shape(5, 0, 5): 2, shape(5, 5, 5): 28}
    assert chance(shapes).at_most == pytest.approx(binomial_tail(2, 30, 0.5**10))
    unequal = {Shape(base_passes=3, base_runs=3, head_passes=0, head_runs=1): 1}
    assert chance(unequal).at_most == pytest.approx(0.75**3 * 0.25)


def test_cases_without_values_do_not_count():
    empty = Shape(base_passes=0, base_runs=0, head_passes=0, head_runs=3)
    shapes = {shape(3, 0): 1, shape(3, 3): 9}
    assert chance({**shapes, empty: 50}) == chance(shapes)
    nothing = chance({empty: 3})
    assert (nothing.lost, nothing.probability) == (0, 1.0)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), runs=st.sampled_from([1, 3, 5]), cases=st.integers(5, 40))
def test_a_further_lost_case_is_less_probable(seed, runs, cases):
    rng = random.Random(seed)
    shapes = suite([rng.betavariate(0.6, 0.2) for _ in range(cases)], runs, seed)
    passing = shape(runs, runs, runs)
    if shapes[passing]:
        worse = shapes - Counter([passing]) + Counter([shape(runs, 0, runs)])
        before, after = chance(shapes), chance(worse)
        assert after.probability <= before.probability
        assert after.at_most <= before.at_most


LARGE = st.integers(2000, 500_000)
ANY_RATES = st.lists(st.floats(0.5, 0.97), min_size=1, max_size=3)  # groups of cases of the same size


@settings(deadline=None)
@given(ANY_RATES, LARGE, st.sampled_from([1, 3]))
def test_the_number_that_a_large_suite_predicts_is_that_of_its_pass_rates(rates, cases, runs):
    """Rates lie between those of any grid, and a suite of several kinds of cases is no Beta distribution."""
    shares = mixture(rates, runs)
    lost = cases * shares[runs, 0]
    found = chance({shape(*passes, runs): round(cases * share) for passes, share in shares.items()})
    assert found.expected == pytest.approx(lost, abs=1 + 0.4 * lost**0.5)
    assert found.probability >= 0.3


def mixture(rates, runs):
    """How probable each number of passes of both sides is, of an unchanged case with one of these rates."""

    def binomial(passes, rate):
        return comb(runs, passes) * rate**passes * (1 - rate) ** (runs - passes)

    return {
        (base, head): sum(binomial(base, rate) * binomial(head, rate) for rate in rates) / len(rates)
        for base in range(runs + 1)
        for head in range(runs + 1)
    }


@pytest.mark.parametrize("cases", [2000, 5000])
@pytest.mark.parametrize(("runs", "most"), [(1, 0.09), (3, 0.04)])
def test_unchanged_large_suites_seldom_show_anything_improbable(cases, runs, most):
    rng = random.Random(cases + runs)
    kinds = [[percent / 200] for percent in range(101, 195, 6)] + [[0.5, 1.0], [0.5, 0.7, 0.9, 0.97, 1.0]]

    def improbable(shares):
        drawn = Counter(rng.choices([shape(*passes, runs) for passes in shares], [*shares.values()], k=cases))
        return chance(drawn).probability <= 0.03

    found = [improbable(mixture(rates, runs)) for rates in kinds for _ in range(10)]
    assert sum(found) / len(found) <= most


@pytest.mark.parametrize("cases", [300, 2000])
def test_many_more_lost_cases_than_gains_are_improbable_in_a_large_suite(cases):
    found = chance({shape(1, 1, 1): cases, shape(0, 1, 1): cases // 10, shape(1, 0, 1): cases // 5})
    assert found.probability <= 0.03


def test_cases_may_have_very_many_runs():
    shapes = {shape(1, 0, 1): 1, shape(900, 450, 900): 8, shape(900, 900, 900): 2}
    assert 0.03 < chance(shapes).probability <= 1


@pytest.mark.parametrize("runs", [3, 5])
def test_unchanged_suites_seldom_show_anything_improbable(runs):
    """The benchmark has the whole table; here 60 suites of each of three kinds."""
    rng = random.Random(runs)
    kinds = (lambda: rng.betavariate(0.6, 0.2), lambda: 0.9, lambda: 0.7)
    improbable = sum(
        chance(suite([kind() for _ in range(30)], runs, seed)).probability <= 0.03
        for kind in kinds
        for seed in range(60)
    )
    assert improbable / 180 <= 0.04
