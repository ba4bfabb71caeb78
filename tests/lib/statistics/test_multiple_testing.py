"""Holm's correction."""

from __future__ import annotations

import pytest

from runevals.lib.statistics.multiple_testing import holm


@pytest.mark.parametrize(
    ("given", "corrected"),
    [
        ([], []),
        ([0.01], [0.01]),
        ([0.04, 0.01, 0.03], [0.06, 0.03, 0.06]),  # 3 × 0.01, 2 × 0.03, then never less than the one before
        ([0.5, 0.6], [1.0, 1.0]),
    ],
)
def test_holm_multiplies_the_smallest_p_by_all_and_the_largest_by_one(given, corrected):
    assert holm(given) == pytest.approx(corrected)
