"""CPU time of comparing two run reports of 10 000 cases, tables and all: `python benchmarks/compare_speed.py`."""

from __future__ import annotations

import gc
import random
import sys
import time

from msgspec.structs import replace

from runevals.records import CheckResult, Layer, Outcome, RunReport, TurnReport
from runevals.verdict.compare import compare
from runevals.verdict.score import over_attempts, run_report
from verdict_sim import ATTEMPTS, INFO, Truth

CHECKS = {
    passed: CheckResult(
        id="contains",
        evaluator="contains",
        layer=Layer.FACT,
        outcome=Outcome.PASSED if passed else Outcome.FAILED,
        score=float(passed),
    )
    for passed in (True, False)
}


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rng = random.Random(20261121)
    truth = [rng.betavariate(0.6, 0.2) for _ in range(cases)]
    gc.set_threshold(1_000_000, 20, 20)  # as the command line does
    for with_turns, repeats in ((False, (3, 3)), (True, (3, 3)), (True, (9, 3))):
        base, head = (drawn(rng, truth, runs, with_turns=with_turns) for runs in repeats)
        best = min(timed(head, base) for _ in range(5))
        what = "one check a run" if with_turns else "values only"
        print(f"{cases} cases × ({repeats[0]} + {repeats[1]}), {what}: {1000 * best:.0f} ms CPU (best of 5)")


def drawn(rng: random.Random, truth: list[float], repeats: int, *, with_turns: bool) -> RunReport:
    """A report of runs that pass with these chances."""
    found = []
    for number, chance in enumerate(truth):
        attempts = []
        for attempt in range(repeats):
            passed = rng.random() < chance
            turn = TurnReport(prompt="?", expected=None, output="!", results=(CHECKS[passed],), latency_s=0.1)
            turns = (turn,) if with_turns else ()
            attempts.append(replace(ATTEMPTS[passed], attempt=attempt + 1, turns=turns))
        found.append(over_attempts(Truth([], []).blank(number), attempts))
    return run_report(replace(INFO, repeat=repeats), found)


def timed(head: RunReport, base: RunReport) -> float:
    """Seconds of CPU for one comparison."""
    began = time.process_time()
    compare(head, base, "base")
    return time.process_time() - began


if __name__ == "__main__":
    main()
