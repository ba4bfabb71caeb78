"""What a suite can see, and what it would take."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import pytest
from msgspec.structs import replace

from runevals.lib.statistics.power import POWER, Noise

# 17 % of two runs disagree, 3 repeats a side: variance within a case 0.085.
NOISE = Noise(cases=100, variance=0.085 * 2 / 3, head_variance=0.085 / 3, weight=2 / 3, size=6.0)


def test_the_needed_cases_detect_the_drop_and_one_fewer_does_not():
    needed = NOISE.cases_for(0.05, 0.01)
    assert 300 < needed < 400  # the reference: 5.3 points at n = 300
    assert replace(NOISE, cases=needed).detectable_drop(0.01) <= 0.05
    assert replace(NOISE, cases=needed - 1).detectable_drop(0.01) > 0.05


def test_the_needed_repeats_detect_the_drop():
    needed = NOISE.repeats_for(0.05, 0.01)
    assert 8 <= needed <= 12
    assert NOISE.repeats_for(0.0001, 0.01) is None


def test_a_drop_that_is_detectable_already_needs_no_more_cases():
    assert NOISE.cases_for(0.2, 0.01) == 100


@pytest.mark.parametrize(("drop", "low", "high"), [(0.0, 0.0, 0.1), (0.0554, 0.49, 0.51), (0.2, 0.99, 1.0)])
def test_a_larger_drop_is_more_likely_to_be_detected_again(drop, low, high):
    assert low <= NOISE.agreement(drop, 0.01) <= high


def test_without_noise_a_rerun_agrees():
    still = replace(NOISE, variance=0.0, head_variance=0.0)
    assert still.agreement(0.1, 0.01) == 1.0


def test_the_detectable_drop_solves_its_equation():
    drop = NOISE.detectable_drop(0.01)
    error = sqrt(NOISE.variance / NOISE.cases)
    z_alpha, z_power = (NormalDist().inv_cdf(share) for share in (0.99, POWER))
    needed = z_alpha * sqrt(error**2 + drop / (NOISE.cases * (NOISE.size - 1)))
    assert drop == pytest.approx(needed + z_power * error + NOISE.weight / (2 * NOISE.cases))
