"""What tokens cost, and when that is not known."""

from __future__ import annotations

import pytest

from runevals.lib.chat.prices import Price, Prices


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        ("gpt-5-mini", 0.25 + 1.0),
        ("gpt-5-mini-2025-08-07", 0.25 + 1.0),  # a dated name is its model's
        ("gpt-5-minimal", None),
        ("own", 2.0 + 1.5),
        ("gpt-4o", 7.0 + 0.5),  # the settings go before the table
        (None, None),
    ],
)
def test_a_million_tokens_in_and_half_of_one_out(model, cost):
    prices = Prices({"own": Price(2.0, 3.0), "gpt-4o": Price(7.0, 1.0)})
    found = prices.cost_usd(model, 1_000_000, 500_000)
    assert found == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize("tokens", [(None, 5), (5, None)])
def test_unknown_tokens_cost_an_unknown_sum(tokens):
    assert Prices().cost_usd("gpt-5", *tokens) is None
