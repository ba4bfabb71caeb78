"""Shares of observations in groups: the value, and an interval that knows how alike a group is."""

from __future__ import annotations

import pytest

from runevals.lib.statistics.proportion import share_of_groups, wilson


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
