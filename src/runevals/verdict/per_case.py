"""Which cases: flips against chance, which of them hold by themselves, and which flake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import comb, fsum

from runevals.lib.statistics.permutation_test import case_p_value
from runevals.records import FlakyCase, Flips
from runevals.verdict.matching import Pair

FALSE_DISCOVERIES = 0.10
FLAKY_FROM = 0.3
FLAKY_RUNS = 6
_LEAST_BETWEEN = 1e-3  # cases are never quite alike
MOST_FLAKY = 50


def flips(pairs: Sequence[Pair]) -> Flips:
    """How many cases flipped each way, and how many would each way if base and head were the same."""
    shapes = Counter((pair.before.passes + pair.now.passes, pair.before.runs, pair.now.runs) for pair in pairs)
    chances = [(count, _flip_chances(*shape)) for shape, count in shapes.items()]
    return Flips(
        down=sum(pair.regressed for pair in pairs),
        up=sum(pair.fixed for pair in pairs),
        expected_down=fsum([count * down for count, (down, _) in chances]),
        expected_up=fsum([count * up for count, (_, up) in chances]),
    )


@cache
def _flip_chances(passes: int, base_size: int, head_size: int) -> tuple[float, float]:
    """The shares of deals of so many passes in which the case flips down and up; a tie passes."""
    down = up = 0
    for on_head in range(min(passes, head_size) + 1):
        on_base = passes - on_head
        ways = comb(head_size, on_head) * comb(base_size, on_base)
        base_passes, head_passes = 2 * on_base >= base_size, 2 * on_head >= head_size
        down += ways if base_passes and not head_passes else 0
        up += ways if head_passes and not base_passes else 0
    deals = comb(base_size + head_size, passes)
    return down / deals, up / deals


def confirmed(pairs: Sequence[Pair]) -> frozenset[int]:
    """The places of the regressed pairs that hold by themselves: Benjamini-Hochberg at 0.10 over all pairs.

    Only regressed ones are candidates, so that at most a tenth of the named are expected to be false.
    """
    candidates = sorted(
        (_p_value(pair.before.values, pair.now.values), place)
        for place, pair in enumerate(pairs)
        if pair.regressed and pair.measured
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
    """(a, b) of the Beta distribution that the cases' pass probabilities come from, by the moments of their rates.

    The variance of observed rates is μ(1 − μ)(ρ + (1 − ρ)/n): what sampling n runs adds is taken out, and
    a + b = 1/ρ − 1. (½, ½) where there are too few cases to tell.
    """
    known = [(passes / runs, runs) for passes, runs in counts if runs]
    mean = fsum([share for share, _ in known]) / len(known) if known else 0.0
    if len(known) < 2 or mean in (0.0, 1.0):
        return 0.5, 0.5
    variance = fsum([(share - mean) ** 2 for share, _ in known]) / (len(known) - 1)
    sampled = fsum([1 / runs for _, runs in known]) / len(known)
    between = (variance / (mean * (1 - mean)) - sampled) / (1 - sampled) if sampled < 1 else 1.0
    strength = 1 / min(1.0, max(between, _LEAST_BETWEEN)) - 1
    return mean * strength, (1 - mean) * strength
