"""`runevals doctor --aa` on suites of known truth: `python benchmarks/power.py [SIMULATED] [MEASURED] [KIND]`.

A suite of each kind has fixed pass rates. The truth is what 2,000 simulated changes at these rates end in. The
suite is measured several times as the command does, by twice five runs of every case; each time it is predicted
what the changes end in, with a 90 % interval, from random numbers of its own: a prediction has luck, too. Exits
with 1 if the mean prediction of a row is more than three points off and more than chance explains, if false alarms
are, or if fewer than eight of ten intervals contain the truth.

Ten runs of a case do not determine its pass rate, and the power of a change depends on it. *Least* is the width of
the interval if it were known that all cases have one pass rate: the power at the two ends of the 90 % interval of
that rate. No prediction from these runs alone can have a shorter interval.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from math import sqrt
from statistics import fmean, stdev

from msgspec.structs import replace

from runevals.lib.statistics.proportion import share_of_a_group
from runevals.records import RegressionRule
from runevals.run.power.measure import TWICE, rounds_of
from runevals.run.power.predict import SAME_RATES, Change, Suite, gain_of_all, of_all, of_case, of_some, suite_of
from runevals.run.power.simulate import CaseOdds, Plan, Rates
from runevals.verdict.score import over_attempts, run_report
from verdict_sim import FAILED, INFO, PASSED, case

SIMULATED, MEASURED, CASES, MOST_OFF, LEAST_INSIDE = 2000, 30, 20, 0.03, 0.8
RUNS = TWICE * rounds_of(CASES)
GUESSED = 150  # changes that a prediction simulates
PLAN = Plan(info=INFO, rule=RegressionRule(), repeat=3, base_looks=6)
KINDS: dict[str, Callable[[random.Random], float]] = {
    "always": lambda _: 1.0,
    "steady 0.9": lambda _: 0.9,
    "uniform 0.5-1": lambda rng: rng.uniform(0.5, 1),
    "U-shape": lambda rng: rng.betavariate(0.6, 0.2),
}
ENDS_OF_RATE = {"steady 0.9": [0.9 + side * 1.645 * sqrt(0.09 / (CASES * RUNS)) for side in (-1, 1)]}
QUESTIONS: dict[str, tuple[Change | None, float, tuple[str, ...]]] = {
    "unchanged": (of_all, 0.0, ("worse", "not_known")),
    "one case, all of it": (of_case, 1.0, ("worse",)),
    "one case, 0.7 of it": (of_case, 0.7, ("worse",)),
    "a category, 0.5": (None, 0.5, ("worse",)),
    "every case, 0.15": (of_all, 0.15, ("worse",)),
    "every case, 0.3": (of_all, 0.3, ("worse",)),
    "a gain, half of what fails": (gain_of_all, 0.5, ("improved",)),
}


def measured(rates: Rates, rng: random.Random) -> Suite:
    """A suite whose cases ran as often as the command runs them."""
    cases = [
        over_attempts(
            case(place, [], category=f"c{place % 3}"),
            [PASSED if rng.random() < rate else FAILED for _ in range(RUNS)],
        )
        for place, rate in enumerate(rates)
    ]
    return suite_of(run_report(INFO, cases), PLAN)


def at_truth(suite: Suite) -> Suite:
    """The same cases, whose runs pass and fail as they really do."""
    odds = [CaseOdds(case=one.case, passing=[PASSED], failing=[FAILED], passes=0, runs=0) for one in suite.odds]
    return Suite(plan=PLAN, odds=odds, simulations=suite.simulations)


def main() -> int:
    """Every kind of suite → exit code."""
    told = [int(word) for word in sys.argv[1:3]]
    number, times = *told, *(SIMULATED, MEASURED)[len(told) :]
    kinds = {name: KINDS[name] for name in sys.argv[3:]} or KINDS
    missed, inside, most = 0, [], 0.0
    print(f"{CASES} cases, measured {times} times; {number} simulated changes a row; points of 100")
    for kind, rate in kinds.items():
        rng = random.Random(kind)
        rates = [rate(rng) for _ in range(CASES)]
        suites = [replace(measured(rates, rng), simulations=GUESSED, seed=number) for number in range(times)]
        exact = at_truth(suites[0])
        for question, (some, size, ends) in QUESTIONS.items():
            change = some or of_some(exact.parts)
            truth = exact.known(change, size, rates, number, rng)
            guesses = [suite.shares(change, size) for suite in suites]
            at_ends = [
                exact.known(change, size, [end] * CASES, number // 4, rng) for end in ENDS_OF_RATE.get(kind, [])
            ]
            for end in ends:
                true = getattr(truth, end)
                off = [getattr(guess, end) - true for guess in guesses]
                intervals = [
                    share_of_a_group([getattr(each, end) for each in guess.by_rates], SAME_RATES)
                    for guess in guesses
                ]
                within = [low - 0.005 <= true <= high + 0.005 for low, high in intervals]
                inside += within
                chance = stdev(off) / sqrt(times) + sqrt(true * (1 - true) / number)
                holds = abs(fmean(off)) <= MOST_OFF + (2 * chance if size else 0.0)
                missed += not holds
                most = max(most, abs(fmean(off)))
                least = abs(getattr(at_ends[1], end) - getattr(at_ends[0], end)) if at_ends else None
                print(
                    f"{'  ' if holds else '✗ '}{kind:<14}{question + ', ' + end:<38}true {100 * true:5.1f}  "
                    f"off {100 * fmean(off):+5.1f} ± {100 * chance:3.1f}  inside {sum(within)}/{times}  "
                    f"width {100 * fmean(high - low for low, high in intervals):4.1f}"
                    + ("" if least is None else f"  least {100 * least:4.1f}"),
                    flush=True,
                )
    print(
        f"{missed} predictions are off, at most by {100 * most:.1f}; "
        f"{sum(inside)} of {len(inside)} intervals contain the truth"
    )
    return int(missed > 0 or sum(inside) < LEAST_INSIDE * len(inside))


if __name__ == "__main__":
    sys.exit(main())
