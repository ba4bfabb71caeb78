"""Single cases: flips against chance, significant regressions, and flaky cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import fsum

from runevals.lib.statistics.chance import beta_binomial
from runevals.lib.statistics.permutation_test import case_p_value
from runevals.records import FlakyCase, Flips
from runevals.verdict.matching import Pair

FALSE_DISCOVERIES = 0.10
FLIPS_FROM_RUNS = 2  # a case, on the base
FLAKY_FROM = 0.3
FLAKY_RUNS = 6
_LEAST_BETWEEN = 1e-3  # cases are never quite alike
MOST_FLAKY = 50


def flips(pairs: Sequence[Pair]) -> Flips:
    """How many cases flipped each way, and how many would if nothing had changed, by the base's own runs.

    The expected numbers are None if the base ran each case only once: its own variation is unknown then.
    """
    known = [(pair.before.passes, pair.before.runs, pair.now.runs) for pair in pairs if pair.measured]
    down = up = None
    if known and sum([runs for _, runs, _ in known]) >= FLIPS_FROM_RUNS * len(known):
        counts = [(passes, runs) for passes, runs, _ in known]
        alike = all(passes in (0, runs) for passes, runs in counts)
        prior = (0.0, 0.0) if alike else _beta_prior(counts)
        chances = [(count, _flip_chance(shape, prior)) for shape, count in Counter(known).items()]
        down = fsum([count * chance for count, (chance, failed) in chances if not failed])
        up = fsum([count * chance for count, (chance, failed) in chances if failed])
    return Flips(
        down=sum([pair.regressed for pair in pairs]),
        up=sum([pair.fixed for pair in pairs]),
        expected_down=down,
        expected_up=up,
    )


def _flip_chance(shape: tuple[int, int, int], prior: tuple[float, float]) -> tuple[float, bool]:
    """(the chance that an unchanged case comes out otherwise, whether it failed on the base); a tie passes.

    Its runs on the head are beta-binomial: the prior of the suite, and its own runs on the base.
    """
    passes, runs, again = shape
    a, b = prior[0] + passes, prior[1] + runs - passes
    failed = 2 * passes < runs
    if a <= 0 or b <= 0:
        return 0.0, failed
    fails = fsum([beta_binomial(k, again, (a, b)) for k in range(again + 1) if 2 * k < again])
    return 1 - fails if failed else fails, failed


def significant_alone(pairs: Sequence[Pair]) -> frozenset[int]:
    """The places of the regressed pairs that are significant alone: Benjamini-Hochberg at 0.10 over all pairs.

    Only regressed ones are candidates, so that at most a tenth of the result are expected to be false.
    """
    candidates = sorted(
        (_p_value(pair.before.values, pair.now.values), place)
        for place, pair in enumerate(pairs)
        if pair.regressed and pair.measured
    )
    numbered = enumerate(candidates, start=1)
    ranks = [rank for rank, (p, _) in numbered if p <= FALSE_DISCOVERIES * rank / len(pairs)]
    return frozenset(place for _, place in candidates[: max(ranks, default=0)])


_p_value = cache(case_p_value)


def flaky_cases(pairs: Sequence[Pair]) -> tuple[FlakyCase, ...]:
    """The cases that disagree with themselves in more than 3 of 10 pairs of runs, the flakiest first.

    The rate is 2p(1 − p), with p from all runs of both sides and the suite's own Beta prior (by its moments).
    Needs six runs of a case; a pair that got worse or better is a change, not a flake, and is left out.
    """
    counts = [
        (pair, pair.before.passes + pair.now.passes, pair.before.runs + pair.now.runs)
        for pair in pairs
        if not (pair.regressed or pair.fixed)
    ]
    a, b = _beta_prior([(passes, runs) for _, passes, runs in counts])
    flaky = []
    for pair, passes, runs in counts:
        if runs < FLAKY_RUNS or passes in (0, runs):
            continue
        p = (passes + a) / (runs + a + b)
        rate = 2 * p * (1 - p)
        if rate > FLAKY_FROM:
            flaky.append(FlakyCase(suite=pair.head.suite, key=pair.head.key, rate=rate, runs=runs))
    return tuple(sorted(flaky, key=lambda case: -case.rate)[:MOST_FLAKY])


def _beta_prior(counts: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """(a, b) of the Beta distribution that the cases' pass probabilities come from, by the moments of their rates.

    The variance of observed rates is μ(1 − μ)(ρ + (1 − ρ)/n): what sampling n runs adds is taken out, and
    a + b = 1/ρ − 1. (½, ½) if there are too few cases.
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
