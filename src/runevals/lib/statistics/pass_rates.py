"""How probable each Beta distribution of the pass rates of a suite's cases is, from their runs.

Nothing is supposed of the suite: the odds of its mean rate, and how alike its cases are, are equally probable on
a scale of powers. So a suite may have cases that are all alike, or some that always pass and some that never do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, fsum

from runevals.lib.statistics.chance import Beta, log_probability

MEANS = tuple(1 / (1 + 2 ** (-quarter / 4)) for quarter in range(-20, 53))  # 3 % to 99.99 %
SIZES = tuple(2.0**power for power in range(-2, 18))  # a + b: the larger, the more alike the cases are


def beta_weights(counts: Mapping[tuple[int, int], int]) -> Sequence[tuple[float, Beta]]:
    """(weight, distribution) of each; `counts` are the numbers of cases of each (passes, runs)."""
    shapes = [(size * mean, size * (1 - mean)) for mean in MEANS for size in SIZES]
    logs = [
        fsum(number * log_probability(shape, passes, runs - passes) for (passes, runs), number in counts.items())
        for shape in shapes
    ]
    largest = max(logs)
    return [(exp(value - largest), shape) for value, shape in zip(logs, shapes, strict=True)]
