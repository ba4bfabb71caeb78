"""The permutation test against counting every deal by hand, and laws it must keep."""

from __future__ import annotations

import random
from itertools import combinations, product
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runevals.lib.statistics import permutation_test as significance
from runevals.lib.statistics.permutation_test import case_blocked_test, case_p_value

VALUES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def by_hand(base, head):
    """The share of all deals in which the head's total is at most, and at least, the observed one."""
    sums = []
    for key, of_base in base.items():
        pooled = [*of_base, *head[key]]
        sums.append([sum(deal) for deal in combinations(pooled, len(head[key]))])
    observed = sum(sum(values) for values in head.values())
    totals = [sum(deal) for deal in product(*sums)]
    loss = sum(total <= observed + 1e-9 for total in totals) / len(totals)
    gain = sum(total >= observed - 1e-9 for total in totals) / len(totals)
    return loss, gain


@settings(max_examples=60, deadline=None)
@given(data=st.data(), cases=st.integers(1, 4), of_base=st.integers(1, 3), of_head=st.integers(1, 2))
def test_the_exact_p_value_is_the_share_of_permutations(data, cases, of_base, of_head):
    base = {k: data.draw(st.lists(VALUES, min_size=of_base, max_size=of_base)) for k in range(cases)}
    head = {k: data.draw(st.lists(VALUES, min_size=of_head, max_size=of_head)) for k in range(cases)}
    found = case_blocked_test(base, head)
    loss, gain = by_hand(base, head)
    assert found.exact
    assert found.p_value == pytest.approx(loss, abs=1e-12)
    assert found.gain_p_value == pytest.approx(gain, abs=1e-12)


def test_the_p_value_is_exact_also_if_some_cases_have_fewer_runs():
    """The total of each deal is that of the differences of means."""
    base = {0: [1.0, 1.0, 1.0], 1: [1.0, 1.0, 0.0], 2: [1.0, 0.5], 3: [1.0]}
    head = {0: [0.0, 1.0, 0.0], 1: [0.0, 0.0], 2: [0.25, 0.0, 1.0], 3: [0.0]}
    differences = []
    for key, of_base in base.items():
        pooled, size = [*of_base, *head[key]], len(head[key])
        deals = [sum(deal) for deal in combinations(pooled, size)]
        differences.append([total / size - (sum(pooled) - total) / len(of_base) for total in deals])
    observed = sum(sum(head[key]) / len(head[key]) - sum(base[key]) / len(base[key]) for key in base)
    totals = [sum(deal) for deal in product(*differences)]
    found = case_blocked_test(base, head)
    assert found.exact
    assert found.p_value == pytest.approx(sum(total <= observed + 1e-9 for total in totals) / len(totals))
    assert found.gain_p_value == pytest.approx(sum(total >= observed - 1e-9 for total in totals) / len(totals))


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ([0.8521, 0.9137, 0.87, 0.91], [0.0613, 0.1291, 0.88, 0.02]),
        ([1 / 3, 0.5, 0.52031, 0.5], [0.5, 0.49873]),
        ([0.91237], [0.0213, 0.45671, 0.99999]),
    ],
)
def test_one_case_has_its_exact_p_value_if_its_scores_are_on_no_coarse_grid(base, head):
    assert case_p_value(base, head) == pytest.approx(by_hand({0: base}, {0: head})[0], abs=1e-12)


def test_many_runs_of_one_case_on_a_fine_grid_show_a_loss():
    rng = random.Random(7)
    base, head = ([low + rng.random() / 10 for _ in range(20)] for low in (0.85, 0.05))
    assert case_p_value(base, head) < 1e-6
    assert case_p_value(head, base) > 0.999


def test_with_one_repeat_per_side_the_p_value_is_exact_mcnemar():
    base = {k: [1.0] for k in range(50)} | {k: [0.0] for k in (10, 11)}
    head = {k: [1.0] for k in range(50)} | {k: [0.0] for k in range(10)}
    expected = sum(comb(12, k) for k in range(3)) / 2**12
    assert case_blocked_test(base, head).p_value == expected


def drawn(seed, cases, repeats, rate):
    rng = random.Random(seed)
    return {k: [float(rng.random() < rate) for _ in range(repeats)] for k in range(cases)}


@pytest.mark.parametrize("seed", range(5))
def test_the_normal_approximation_is_close_to_the_exact_p_value(monkeypatch, seed):
    base, head = drawn(seed, 100, 3, 0.75), drawn(seed + 100, 100, 3, 0.70)
    exact = case_blocked_test(base, head)
    monkeypatch.setattr(significance, "EXACT_MAX_CASES", 0)
    normal = case_blocked_test(base, head)
    assert exact.exact
    assert not normal.exact
    assert normal.p_value == pytest.approx(exact.p_value, abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_the_normal_approximation_holds_for_unequal_repeats(monkeypatch, seed):
    base, head = drawn(seed, 100, 9, 0.75), drawn(seed + 50, 100, 3, 0.72)
    exact = case_blocked_test(base, head).p_value
    monkeypatch.setattr(significance, "EXACT_MAX_CASES", 0)
    assert case_blocked_test(base, head).p_value == pytest.approx(exact, abs=2e-3)


def test_cases_with_missing_values_are_compared_by_the_remaining_values():
    base, head = drawn(1, 60, 3, 0.9), drawn(2, 60, 3, 0.4)
    for key in range(0, 60, 7):
        head[key] = head[key][:1]
    head[5] = []
    found = case_blocked_test(base, head)
    assert found.exact
    assert found.cases == 59
    assert found.p_value < 0.001


def test_the_order_of_cases_and_repeats_does_not_change_the_result():
    base, head = drawn(3, 40, 3, 0.8), drawn(4, 40, 3, 0.7)
    rng = random.Random(5)
    keys = list(base)
    rng.shuffle(keys)
    mixed = (
        {f"case {k}": rng.sample(base[k], 3) for k in keys},
        {f"case {k}": rng.sample(head[k], 3) for k in keys},
    )
    assert case_blocked_test(*mixed) == case_blocked_test(base, head)


def test_equal_sides_are_not_a_drop():
    base = drawn(6, 30, 3, 0.8)
    found = case_blocked_test(base, base)
    assert found.drop == 0.0
    assert found.p_value > 0.4


def test_if_nothing_varies_p_is_one_and_the_interval_is_one_step_wide():
    found = case_blocked_test({k: [1.0] * 3 for k in range(24)}, {k: [1.0] * 3 for k in range(24)})
    assert (found.p_value, found.gain_p_value) == (1.0, 1.0)
    assert found.interval == pytest.approx((-0.0272, 0.0272), abs=1e-4)  # 1.96 · sqrt((2/3)²/4) / 24


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES, VALUES, VALUES), min_size=1, max_size=8))
def test_a_head_that_is_worse_everywhere_is_never_a_gain(rows):
    base = {k: [max(a, b), max(c, d)] for k, (a, b, c, d) in enumerate(rows)}
    head = {k: [min(a, b), min(c, d)] for k, (a, b, c, d) in enumerate(rows)}
    found = case_blocked_test(base, head)
    assert found.drop >= 0
    assert found.gain_p_value >= found.p_value


def test_scores_on_another_scale_give_the_same_answer():
    base, head = drawn(7, 30, 3, 0.8), drawn(8, 30, 3, 0.6)
    wide = {k: [1 + 4 * v for v in values] for k, values in base.items()}
    wide_head = {k: [1 + 4 * v for v in values] for k, values in head.items()}
    plain, scaled = case_blocked_test(base, head), case_blocked_test(wide, wide_head, value_range=4.0)
    assert scaled.p_value == plain.p_value
    assert scaled.drop == pytest.approx(4 * plain.drop)
    assert scaled.noise.detectable_drop(0.01) == pytest.approx(plain.noise.detectable_drop(0.01))


def test_values_without_a_common_grid_use_the_normal_approximation():
    rng = random.Random(9)
    base = {k: [rng.random() for _ in range(3)] for k in range(50)}
    head = {k: [value - 0.1 for value in values] for k, values in base.items()}
    found = case_blocked_test(base, head)
    assert not found.exact
    assert found.drop == pytest.approx(0.1)


def test_the_smallest_detectable_drop_agrees_with_the_reference():
    """Reference: 17 % of two runs disagree, 3 repeats a side: 9.7 points at n = 100, 5.3 at n = 300."""
    for cases, expected in ((100, 0.097), (300, 0.053)):
        # A third of the cases answers 0, 0, 1 on both sides: pooled within-case variance 0.085.
        noisy = round(cases * 0.085 * 3)
        base = {k: [0.0, 0.0, 1.0] if k < noisy else [1.0] * 3 for k in range(cases)}
        found = case_blocked_test(base, base).noise.detectable_drop(0.01)
        assert found == pytest.approx(expected, abs=0.003)


def test_without_a_shared_case_there_is_nothing_to_test():
    with pytest.raises(ValueError, match="no case has values on both sides"):
        case_blocked_test({"a": [1.0]}, {"b": [1.0], "a": []})
