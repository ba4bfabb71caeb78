"""CPU time of comparing 10 000 cases × (3 + 3) values: `python benchmarks/significance.py`. Medians of 9 runs."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from statistics import median

from runevals.lib.statistics.permutation_test import case_blocked_test

CASES, REPEATS, RUNS, LIMIT_MS = 10_000, 3, 9, 100


def main() -> None:
    rng = random.Random(1)
    kinds: dict[str, Callable[[], float]] = {
        "passed or failed": lambda: float(rng.random() < 0.75),
        "shares in quarters": lambda: rng.randrange(5) / 4,
        "shares on no grid": rng.random,
    }
    print(f"{'values':<20} {'CPU ms':>8} {'limit':>8}")
    for name, draw in kinds.items():
        base = {case: [draw() for _ in range(REPEATS)] for case in range(CASES)}
        head = {case: [draw() for _ in range(REPEATS)] for case in range(CASES)}
        times = []
        for _ in range(RUNS):
            started = time.process_time()
            case_blocked_test(base, head)
            times.append(time.process_time() - started)
        print(f"{name:<20} {1000 * median(times):>8.1f} {LIMIT_MS:>8}")


if __name__ == "__main__":
    main()
