"""The search of `runevals ablate` on simulated prompts of known truth: `python benchmarks/ablate_sim.py [N]`.

Each of 200 prompts has 10 to 60 hunks, of which 0 to 5 matter: without one of these, a case is lost. Exits with 1
if less than 97 % of those that matter are kept, too few idle ones are found, or a search takes more runs than it
states.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

from runevals.verdict.ablate_search import Ablation, Key, Values, ablation, planned_runs
from runevals.verdict.blame_search import HunkSet

PROMPTS, CASES = 200, 12
LEAST_KEPT, LEAST_IDLE = 0.97, {True: 0.90, False: 0.70}


def searched(hunks: int, mattering: Sequence[int], rng: random.Random, *, good: float, bad: float) -> Ablation:
    """One prompt; each hunk that matters has a case of its own."""
    cases = [("s", str(place)) for place in range(CASES)]

    def measure(out: HunkSet, some: Sequence[Key], number: int) -> Values:
        lost = {cases[place] for place, hunk in enumerate(mattering) if hunk in out}
        return {
            case: [float(rng.random() < (bad if case in lost else good)) for _ in range(number)] for case in some
        }

    return ablation(hunks, cases, measure, deterministic=good == 1.0)


def row(name: str, prompts: int, *, good: float, bad: float, limited: bool = True) -> bool:
    """Prints what was found; whether the limits hold."""
    kept = matter = idle = found = confirmed = 0
    most = 0.0
    for seed in range(prompts):
        rng = random.Random(f"{name} {seed}")
        hunks = rng.randint(10, 60)
        mattering = rng.sample(range(hunks), rng.randint(0, 5))
        result = searched(hunks, mattering, rng, good=good, bad=bad)
        kept += len(set(mattering) - result.idle)
        matter += len(mattering)
        idle += hunks - len(mattering)
        found += len(result.idle - set(mattering))
        confirmed += result.confirmed
        most = max(most, result.runs / planned_runs(hunks, CASES, deterministic=good == 1.0))
    holds = kept >= LEAST_KEPT * matter and found >= LEAST_IDLE[good == 1.0] * idle and most <= 1.0
    shares = f"kept {100 * kept / matter:5.1f} %  idle found {100 * found / idle:5.1f} %"
    ends = f"confirmed {100 * confirmed / prompts:3.0f} %  most of the stated runs {100 * most:3.0f} %"
    print(f"{'  ' if holds or not limited else '✗ '}{name:<20} {shares}  {ends}", flush=True)
    return holds or not limited


def main() -> int:
    """Every kind of prompt → exit code."""
    prompts = int(sys.argv[1]) if len(sys.argv) > 1 else PROMPTS
    ends = [
        row("deterministic", prompts, good=1.0, bad=0.0),
        row("noisy, 0.9 → 0.1", prompts, good=0.9, bad=0.1),
        row("noisy, 0.9 → 0.0", prompts, good=0.9, bad=0.0),
        row("noisy, 0.9 → 0.4", prompts, good=0.9, bad=0.4, limited=False),
    ]
    return 0 if all(ends) else 1


if __name__ == "__main__":
    sys.exit(main())
