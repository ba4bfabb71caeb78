"""Evidence of a loss that may be looked at after every pair of runs: e-values.

A pair is one run of each side: did the base pass, did the head? If both sides pass equally often, or the head
more often, an e-value is at most 1 on average, whatever the rule for stopping. So it exceeds 1/level with a
probability of at most `level`, however often one looks (Ville's inequality). The e-value of several hypotheses
together is the mean of theirs: with m of them, one counts as a loss at m/level.

Each bet is the safe test of a 2 × 2 table for one alternative (Turner, Ly and Grünwald 2024): the likelihood ratio
of (pass rate of the base, of the head) against both at their mean. The e-value is a mean of three bets, not one
bet with estimates from earlier pairs: it then depends on the counts alone, so runs of several machines are added
up in any order, and every further loss raises it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from math import exp, log

from msgspec import Struct

# Pass rates of base and head: from always to never, from mostly to never, from always to now and then.
BETS = ((0.98, 0.02), (0.75, 0.02), (0.97, 0.40))


class Pairs(Struct, frozen=True, kw_only=True):
    """Counts over pairs of runs, one of each side."""

    pairs: int = 0
    base_passes: int = 0
    head_passes: int = 0

    @property
    def e_value(self) -> float:
        """The evidence that the head passes less often."""
        return _e_value(self.pairs, self.base_passes, self.head_passes)

    def pairs_until(self, target: float, *, at_best: bool = False, most: int = 1000) -> int | None:
        """How many more pairs reach `target` if they come out as these did; None if no number does.

        `at_best`: if the base passes and the head fails in each.
        """
        passes = self.base_passes, self.head_passes
        rates = (1.0, 0.0) if at_best or not self.pairs else (passes[0] / self.pairs, passes[1] / self.pairs)
        return _pairs_until(log(target), (self.pairs, *passes), rates, most)


def paired(base: Sequence[bool], head: Sequence[bool]) -> Pairs:
    """The first run of the base with the first of the head, and so on; what has no partner is left out."""
    pairs = min(len(base), len(head))
    return Pairs(pairs=pairs, base_passes=sum(base[:pairs]), head_passes=sum(head[:pairs]))


def bounds(base: Sequence[bool | None], head: Sequence[bool | None]) -> tuple[Pairs, Pairs]:
    """(the pairs if missing values were best for the head, if they were worst for it)."""
    best = paired([bool(value) for value in base], [value is not False for value in head])
    return best, paired([value is not False for value in base], [bool(value) for value in head])


def needed(hypotheses: int, level: float) -> float:
    """The e-value from which one of so many hypotheses counts; any does so wrongly with probability ≤ level."""
    return max(1, hypotheses) / level


@cache
def _pairs_until(target: float, counts: tuple[int, int, int], rates: tuple[float, float], most: int) -> int | None:
    pairs, base_passes, head_passes = counts
    base, head = rates
    numbers = range(most if base > head else 1)

    def log_mean(more: int) -> float:
        return _log_mean(pairs + more, base_passes + base * more, head_passes + head * more)

    # A mean of exponentials is convex: from below the target it reaches it once.
    more = 0 if log_mean(0) >= target else bisect_left(numbers, target, key=log_mean)
    return more if more < len(numbers) else None


@cache
def _e_value(pairs: int, base_passes: int, head_passes: int) -> float:
    return exp(_log_mean(pairs, base_passes, head_passes))


def _log_mean(pairs: float, base_passes: float, head_passes: float) -> float:
    """The logarithm of the mean of the bets; counts that are no whole numbers are expected ones."""
    logs = [
        base_passes * base_passed
        + (pairs - base_passes) * base_failed
        + head_passes * head_passed
        + (pairs - head_passes) * head_failed
        for base_passed, base_failed, head_passed, head_failed in map(_logs, BETS)
    ]
    largest = max(logs)
    return largest + log(sum(exp(value - largest) for value in logs) / len(logs))


@cache
def _logs(bet: tuple[float, float]) -> tuple[float, float, float, float]:
    """What a run pays: passed and failed on the base, passed and failed on the head."""
    base, head = bet
    both = (base + head) / 2
    return log(base / both), log((1 - base) / (1 - both)), log(head / both), log((1 - head) / (1 - both))
