"""`runevals doctor --aa` on suites of known truth: `python benchmarks/power.py [SIMULATED]`.

Each suite is measured as the command does, by twice three runs of every case. What is predicted from them is
compared with the same changes at the true pass rates, 2,000 of each. Exits with 1 if the prediction of a kind of
suite is, over its suites, more than three points off.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from statistics import fmean

from runevals.records import RegressionRule
from runevals.run.power.predict import Change, Suite, gain_of_all, of_all, of_case, of_some, suite_of
from runevals.run.power.simulate import CaseOdds, Plan
from runevals.verdict.score import over_attempts, run_report
from verdict_sim import FAILED, INFO, PASSED, case

SIMULATED, SUITES, CASES, MOST_OFF = 2000, 8, 30, 0.03
PLAN = Plan(info=INFO, rule=RegressionRule(), repeat=3, base_looks=6)
KINDS: dict[str, Callable[[random.Random], float]] = {
    "U-shape": lambda rng: rng.betavariate(0.6, 0.2),
    "steady 0.9": lambda _: 0.9,
    "uniform 0.5-1": lambda rng: rng.uniform(0.5, 1),
    "always": lambda _: 1.0,
}
QUESTIONS: dict[str, tuple[Change | None, float, str]] = {
    "unchanged, worse": (of_all, 0.0, "worse"),
    "unchanged, not known": (of_all, 0.0, "not_known"),
    "one case, all of it": (of_case, 1.0, "worse"),
    "one case, 0.7 of it": (of_case, 0.7, "worse"),
    "a category, 0.3": (None, 0.3, "worse"),
    "every case, 0.1": (of_all, 0.1, "worse"),
    "every case, 0.15": (of_all, 0.15, "worse"),
    "a gain, half of what fails": (gain_of_all, 0.5, "improved"),
}


def measured(rates: list[float], rng: random.Random) -> Suite:
    """A suite whose cases ran six times."""
    cases = [
        over_attempts(
            case(place, [], category=f"c{place % 3}"),
            [PASSED if rng.random() < rate else FAILED for _ in range(6)],
        )
        for place, rate in enumerate(rates)
    ]
    return suite_of(run_report(INFO, cases), PLAN)


def at_truth(suite: Suite, rates: list[float]) -> Suite:
    """The same cases, whose runs pass and fail as they really do."""
    odds = [
        CaseOdds(case=one.case, passing=[PASSED], failing=[FAILED], passes=0, runs=0)
        for one, _ in zip(suite.odds, rates, strict=True)
    ]
    return Suite(plan=PLAN, odds=odds, simulations=suite.simulations)


def main() -> int:
    """Every kind of suite → exit code."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATED
    missed = 0
    print(f"{SUITES} suites of {CASES} cases a row, {number} simulated changes in all; predicted − true, points")
    for kind, rate in KINDS.items():
        for question, (change, size, end) in QUESTIONS.items():
            differences, truth = [], []
            for seed in range(SUITES):
                rng = random.Random(f"{kind} {seed}")
                rates = [rate(rng) for _ in range(CASES)]
                suite = measured(rates, rng)
                asked = of_some(suite.parts) if change is None else change
                guess = getattr(suite.shares(asked, size), end)
                true = getattr(at_truth(suite, rates).known(asked, size, rates, number // SUITES, seed), end)
                differences.append(guess - true)
                truth.append(true)
            off = fmean(differences)
            holds = abs(off) <= MOST_OFF
            missed += not holds
            print(
                f"{'  ' if holds else '✗ '}{kind:<16}{question:<30}true {100 * fmean(truth):5.1f} %  "
                f"off {100 * off:+5.1f}  largest {100 * max(map(abs, differences)):4.1f}",
                flush=True,
            )
    print(f"{missed} predictions are off" if missed else "all predictions hold")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
