"""Run with `python3 -m unittest`."""

import unittest

from prices import total


class TestTotal(unittest.TestCase):
    def test_without_discount(self):
        assert total([10, 20]) == 30

    def test_with_discount(self):
        assert total([10, 20], discount=10) == 27
