"""The names that pytest-repeat gives the runs of a test: `test_x[1-3]` to `test_x[3-3]`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

_COUNTED = re.compile(r"([\[-])(\d{1,6})-(\d{1,6})\]$")  # `[2-5]`, `[paris-2-5]`

Place = tuple[str, str]  # of a test: what it is in, and its name without a count


def whole_repeats(tests: Iterable[tuple[str, str]]) -> set[Place]:
    """Which tests have all their runs here, of (what a test is in, its name)."""
    counted: dict[Place, set[tuple[int, int]]] = defaultdict(set)
    for group, name in tests:
        if match := _COUNTED.search(name):
            counted[group, without_count(name)].add((int(match[2]), int(match[3])))
    # All of `1-n` to `n-n`: a parameter that only looks so is no count.
    return {place for place, runs in counted.items() if runs == {(n, len(runs)) for n in range(1, len(runs) + 1)}}


def without_count(name: str) -> str:
    """`test_x[paris-2-5]` → `test_x[paris]`, `test_x[2-5]` → `test_x`."""
    return _COUNTED.sub(lambda match: "]" if match[1] == "-" else "", name)
