"""Prices of a shop."""


def total(prices, discount=0):
    """The sum of some prices, less a discount in percent."""
    return sum(prices) * (100 + discount) / 100
