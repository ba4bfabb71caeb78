"""Which cases: flips against chance, which of them hold by themselves, and which flake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import comb, fsum

from runevals.changes import Pair
from runevals.records import FlakyCase, Flips
from runevals.significance import case_p_value

FALSE_DISCOVERIES = 0.10
FLAKY_FROM = 0.3
FLAKY_RUNS = 6
MOST_FLAKY = 50


def flips(pairs: Sequence[Pair]) -> Flips:
    """How many cases flipped each way, and how many would each way if base and head were the same."""
    shapes = Counter((pair.before.passes + pair.now.passes, pair.before.runs, pair.now.runs) for pair in pairs)
    expected = [count * _flip_chance(*shape) for shape, count in shapes.items()]
    return Flips(
        down=sum(pair.regressed for pair in pairs),
        up=sum(pair.fixed for pair in pairs),
        expected_down=fsum(expected),
    )


@cache
def _flip_chance(passes: int, base_size: int, head_size: int) -> float:
    """The share of deals of so many passes in which the base passes and the head fails; a tie passes."""
    ways = 0
    for on_head in range(min(passes, head_size) + 1):
        on_base = passes - on_head
        if on_base <= base_size and 2 * on_base >= base_size and 2 * on_head < head_size:
            ways += comb(head_size, on_head) * comb(base_size, on_base)
    return ways / comb(base_size + head_size, passes)


def confirmed(pairs: Sequence[Pair]) -> frozenset[int]:
    """The places of the regressed pairs that hold by themselves: Benjamini-Hochberg at 0.10 over all pairs.

    Only regressed ones are candidates, so that at most a tenth of the named are expected to be false.
    """
    candidates = sorted(
        (_p_value(pair.before.values, pair.now.values), place)
        for place, pair in enumerate(pairs)
        if pair.regressed
    )
    named = 0
    for rank, (p, _) in enumerate(candidates, start=1):
        if p <= FALSE_DISCOVERIES * rank / len(pairs):
            named = rank
    return frozenset(place for _, place in candidates[:named])


_p_value = cache(case_p_value)


def flaky_cases(pairs: Sequence[Pair]) -> tuple[FlakyCase, ...]:
    """The cases that disagree with themselves in more than 3 of 10 pairs of runs, the flakiest first.

    The rate is 2p(1 − p), with p from all runs of both sides and the suite's own Beta prior (by its moments).
    Needs six runs of a case; a pair that got worse is no flake but a change, and is left out.
    """
    counts = [
        (pair, pair.before.passes + pair.now.passes, pair.before.runs + pair.now.runs)
        for pair in pairs
        if not (pair.regressed or pair.fixed)
    ]
    a, b = _beta_prior([(passes, runs) for _, passes, runs in counts])
    found = []
    for pair, passes, runs in counts:
        if runs < FLAKY_RUNS or passes in (0, runs):
            continue
        p = (passes + a) / (runs + a + b)
        rate = 2 * p * (1 - p)
        if rate > FLAKY_FROM:
            found.append(FlakyCase(suite=pair.head.suite, key=pair.head.key, rate=rate, runs=runs))
    return tuple(sorted(found, key=lambda case: -case.rate)[:MOST_FLAKY])


def _beta_prior(counts: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """(a, b) of the Beta distribution with the mean and variance of the pass rates; (½, ½) where it has none."""
    shares = [passes / runs for passes, runs in counts if runs]
    if len(shares) < 2:
        return 0.5, 0.5
    mean = fsum(shares) / len(shares)
    variance = fsum([(share - mean) ** 2 for share in shares]) / (len(shares) - 1)
    if variance == 0 or mean in (0.0, 1.0) or mean * (1 - mean) <= variance:
        return 0.5, 0.5
    strength = mean * (1 - mean) / variance - 1
    return mean * strength, (1 - mean) * strength
