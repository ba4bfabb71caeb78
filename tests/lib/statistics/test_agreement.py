"""Agreement figures against published values, independent implementations and their own laws."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from runevals.lib.statistics.agreement import estimate, krippendorff_alpha, mean_shift, pearson, weighted_kappa

# Ratings with what the packages `krippendorff` 0.9 and `scikit-learn` 1.9 find for them.
REFERENCE = json.loads((Path(__file__).parent / "agreement_reference.json").read_text())


def units_of_observers():
    """Krippendorff (2011): four observers and twelve units, with gaps."""
    rows = [
        (1, 1, None, 1),
        (2, 2, 3, 2),
        (3, 3, 3, 3),
        (3, 3, 3, 3),
        (2, 2, 2, 2),
        (1, 2, 3, 4),
        (4, 4, 4, 4),
        (1, 1, 2, 1),
        (2, 2, 2, 2),
        (None, 5, 5, 5),
        (None, None, 1, 1),
        (None, None, 3, None),
    ]
    return [[rating for rating in row if rating is not None] for row in rows]


def test_alpha_of_krippendorffs_own_example():
    assert krippendorff_alpha(units_of_observers()) == pytest.approx(0.815, abs=0.0005)


@pytest.mark.parametrize("case", REFERENCE, ids=range(len(REFERENCE)))
def test_independent_implementations_agree(case):
    assert krippendorff_alpha(case["units"]) == pytest.approx(case["alpha"], abs=1e-12)
    if "kappa" in case:
        assert weighted_kappa(case["units"]) == pytest.approx(case["kappa"], abs=1e-12)
        assert pearson(case["units"]) == pytest.approx(case["pearson"], abs=1e-12)


def test_full_agreement_is_one_and_is_unknown_if_all_ratings_are_equal():
    pairs = [(1, 1), (3, 3), (5, 5)]
    assert krippendorff_alpha(pairs) == weighted_kappa(pairs) == 1.0
    assert pearson(pairs) == pytest.approx(1.0)
    for statistic in (krippendorff_alpha, weighted_kappa, pearson):
        assert statistic([(4, 4), (4, 4)]) is None
        assert statistic([]) is None


def test_single_ratings_have_no_agreement():
    pairs = [[1, 2], [4, 4], [3, 5]]
    assert krippendorff_alpha([*pairs, [5], []]) == krippendorff_alpha(pairs)


def test_a_constant_bias_shows_in_the_shift_and_not_in_the_correlation():
    pairs = [(1, 2), (2, 3), (3, 4), (4, 5)]
    assert mean_shift(pairs) == 1.0
    assert pearson(pairs) == pytest.approx(1.0)
    assert weighted_kappa(pairs) < 1


def test_an_interval_contains_its_estimate_and_narrows_with_more_ratings():
    generator = random.Random(3)

    def ratings(n):
        return [(score, min(5, max(1, score + generator.choice((-1, 0, 0, 1))))) for score in (1, 2, 3, 4, 5) * n]

    few, many = estimate(ratings(4), weighted_kappa), estimate(ratings(60), weighted_kappa)
    for found in (few, many):
        assert found.low < found.value < found.high <= 1
    assert many.high - many.low < (few.high - few.low) / 2


def test_the_same_ratings_give_the_same_interval():
    pairs = [(1, 2), (3, 3), (5, 4), (2, 2), (4, 5), (1, 1)]
    assert estimate(pairs, pearson) == estimate(pairs, pearson)
    assert estimate([(3, 3)], pearson).value is None
