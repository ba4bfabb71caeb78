"""The parts of a suite that several jobs share."""

from __future__ import annotations

import pytest

from runevals.records.rules import Shard


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_every_case_is_in_exactly_one_part(count):
    parts = [Shard(part=number, of=count) for number in range(1, count + 1)]
    for key in map(str, range(200)):
        assert sum(part.holds("evals.json", key) for part in parts) == 1
