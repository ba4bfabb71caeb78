"""Shares of observations in groups: the value, and an interval that knows how alike a group is."""

from __future__ import annotations

import random

import pytest

from runevals.lib.statistics.proportion import share_of_a_group, share_of_groups, wilson


def test_without_trials_there_is_no_share():
    assert share_of_groups([(0, 0)]).value is None


def test_the_interval_of_single_observations_is_wilsons():
    share = share_of_groups([(1, 1)] * 8 + [(0, 1)] * 2)
    assert (share.value, share.low, share.high) == pytest.approx((0.8, *wilson(0.8, 10)))
    assert wilson(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)  # as statsmodels has it


def test_groups_that_are_alike_within_count_as_one_observation_each():
    share = share_of_groups([(5, 5)] * 8 + [(0, 5)] * 2)
    assert (share.low, share.high) == pytest.approx(wilson(0.8, 10))


def test_groups_that_differ_within_count_with_every_trial():
    share = share_of_groups([(4, 5)] * 10)
    assert (share.low, share.high) == pytest.approx(wilson(0.8, 10))  # no variance between them tells nothing more
    mixed = share_of_groups([(4, 5), (3, 5), (5, 5), (4, 5), (4, 5), (3, 5), (5, 5), (4, 5), (4, 5), (4, 5)])
    assert (mixed.low, mixed.high) == pytest.approx(wilson(0.8, 50))


def test_a_share_of_all_has_an_interval_too():
    share = share_of_groups([(3, 3)] * 20)
    assert (share.value, share.high) == pytest.approx((1.0, 1.0))
    assert share.low == pytest.approx(wilson(1.0, 20)[0])


@pytest.mark.parametrize(("a", "b"), [(60, 60), (6, 6), (18, 2), (1000, 1)])
def test_the_share_of_one_more_group_lies_in_its_interval_nine_times_in_ten(a, b):
    """However much the groups differ, of groups that follow a Beta distribution."""
    rng = random.Random(1)
    inside = 0
    for _ in range(100):
        groups = [rng.betavariate(a, b) for _ in range(41)]
        shares = [sum(rng.random() < group for _ in range(10)) / 10 for group in groups[1:]]
        low, high = share_of_a_group(shares, 10)
        inside += low - 0.005 <= groups[0] <= high + 0.005
    assert inside >= 84


def test_groups_that_show_nothing_have_a_short_interval():
    low, high = share_of_a_group([0.0] * 20, 10)
    assert 0.0 <= low < high < 0.015
