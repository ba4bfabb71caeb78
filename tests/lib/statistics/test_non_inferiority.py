"""The test for non-inferiority."""

from __future__ import annotations

from math import comb

import pytest

from runevals.lib.statistics.non_inferiority import _exact, _normal, non_inferiority_p_value


def drawn(lost: int, won: int, cases: int) -> list[float]:
    return [1.0] * lost + [-1.0] * won + [0.0] * (cases - lost - won)


@pytest.mark.parametrize(
    ("losses", "margin", "p"),
    [
        pytest.param(drawn(0, 0, 30), 0.03, 0.97**30, id="all alike: the chance that none of 30 is lost"),
        pytest.param(drawn(0, 0, 200), 0.03, 0.97**200, id="all alike, more cases"),
        pytest.param(drawn(1, 0, 100), 0.03, 0.97**100 + 100 * 0.03 * 0.97**99, id="one lost: binomial"),
        pytest.param(drawn(3, 0, 100), 0.03, 1.0, id="the loss is the margin"),
        pytest.param(drawn(50, 0, 100), 0.03, 1.0, id="a large loss"),
        pytest.param(drawn(0, 100, 100), 0.03, 0.0, id="everything better"),
        pytest.param([0.5], 1.0, 0.0, id="a margin of everything"),
    ],
)
def test_known_p_values(losses, margin, p):
    assert non_inferiority_p_value(losses, margin) == pytest.approx(p, abs=2e-9)


def test_nothing_to_test():
    with pytest.raises(ValueError, match="no case"):
        non_inferiority_p_value([], 0.03)


def test_p_falls_with_the_margin_and_rises_with_the_loss():
    losses = [0.0] * 60 + [1 / 3] * 4 + [-1 / 3] * 4 + [2 / 3]
    by_margin = [non_inferiority_p_value(losses, margin) for margin in (0.02, 0.03, 0.05, 0.1, 0.2)]
    assert by_margin == sorted(by_margin, reverse=True)
    by_loss = [non_inferiority_p_value([*losses, loss], 0.05) for loss in (-1.0, -1 / 3, 0.0, 1 / 3, 1.0)]
    assert by_loss == sorted(by_loss)


@pytest.mark.parametrize("cases", [8, 30])
@pytest.mark.parametrize("margin", [0.03, 0.1])
def test_a_target_that_is_worse_by_the_margin_is_rarely_called_not_worse(cases, margin):
    """The chance of p ≤ alpha over all outcomes of `cases` pairs whose mean loss is the margin."""
    outcomes = [(lost, won) for lost in range(cases + 1) for won in range(cases + 1 - lost)]
    p_values = {each: non_inferiority_p_value(drawn(*each, cases), margin) for each in outcomes}
    for differing in (margin, margin + 0.1, 0.4, 0.8, 1.0):
        more, less = (differing + margin) / 2, (differing - margin) / 2
        for alpha in (0.01, 0.05):
            chance = sum(
                comb(cases, lost) * comb(cases - lost, won)
                * more**lost * less**won * (1 - differing) ** (cases - lost - won)
                for lost, won in outcomes
                if p_values[lost, won] <= alpha
            )  # fmt: skip
            assert chance <= alpha, (differing, alpha)


def test_the_normal_form_is_near_the_exact_one():
    steps = {0: 0.05, 1: 0.86, 2: 0.09}
    for observed in (360, 400, 415):
        exact = _exact(steps, 400, observed, 801)
        assert _normal(steps, 400, observed) == pytest.approx(exact, rel=0.15, abs=1e-7)
