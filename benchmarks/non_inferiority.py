"""How often a target is called not worse: `python benchmarks/non_inferiority.py`, a minute.

Cases with their own chances to pass, steady and flaky ones, drawn anew for each comparison. If the true
loss is the margin, at most alpha of the comparisons may say "not worse"; if there is none, as many as possible.
"""

from __future__ import annotations

import random
import time
from statistics import fmean

from runevals.lib.statistics.non_inferiority import non_inferiority_p_value

COMPARISONS, MARGIN, ALPHAS = 1000, 0.03, (0.01, 0.05)
FLAKY = {"steady": 0.02, "mixed": 0.2, "flaky": 0.6}  # the share of flaky cases


def simulated(rng: random.Random, cases: int, repeat: int, flaky: float, loss: float) -> list[float]:
    """The losses of the cases in one comparison, whose mean is expected to be `loss`."""
    losses = []
    for _ in range(cases):
        chance = rng.uniform(0.2, 0.9) if rng.random() < flaky else 1.0
        worse = 0.0 if rng.random() < loss / fmean((0.55 * flaky + 1.0 * (1 - flaky),)) else chance
        there, here = (sum(rng.random() < p for _ in range(repeat)) / repeat for p in (chance, worse))
        losses.append(there - here)
    return losses


def main() -> None:
    print(f"p ≤ {ALPHAS[0]} and p ≤ {ALPHAS[1]}, as shares of {COMPARISONS} comparisons; margin {MARGIN}")
    rng = random.Random(20261122)
    began, tests = time.process_time(), 0
    for repeat in (1, 3):
        for cases in (30, 100, 300):
            for name, flaky in FLAKY.items():
                shown = []
                for loss in (MARGIN, 0.0):
                    p_values = [
                        non_inferiority_p_value(simulated(rng, cases, repeat, flaky, loss), MARGIN)
                        for _ in range(COMPARISONS)
                    ]
                    tests += len(p_values)
                    shown += [fmean(p <= alpha for p in p_values) for alpha in ALPHAS]
                at_margin, without = shown[:2], shown[2:]
                print(
                    f"{cases:4} cases × {repeat}, {name:6}"
                    f"  worse by the margin {at_margin[0]:.3f} {at_margin[1]:.3f}"
                    f"  the same {without[0]:.3f} {without[1]:.3f}",
                    flush=True,
                )
    print(f"{1000 * (time.process_time() - began) / tests:.2f} ms CPU a comparison")


if __name__ == "__main__":
    main()
