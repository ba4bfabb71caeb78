"""False reds and caught drops on simulated pairs with known truth: `python benchmarks/regression_sim.py [PAIRS]`.

Suites are drawn with a pass probability per case from Beta(0.6, 0.2): mean 0.75, and two runs of a case disagree
17 % of the time. A drop is mixed: half of it breaks some cases altogether, half lowers every case a little. The
real comparison judges each pair, round by round, against a stored base and, where that is red, against a fresh
one of 6 repeats; beside it stand "drop > 2 points", the paired t test and the percentile bootstrap over cases.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import sqrt
from statistics import NormalDist, fmean, stdev

from runevals.records import (
    AttemptReport,
    CaseReport,
    ComparisonVerdict,
    Layers,
    ModelIdentity,
    Outcome,
    RunInfo,
    RunReport,
)
from runevals.verdict.compare import compare
from runevals.verdict.regression import Strictness, settled_early
from runevals.verdict.score import over_attempts, run_report

ALPHA, FLOOR, VERIFY_REPEATS = 0.01, 0.02, 6
INFO = RunInfo(
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
    duration_s=0.0,
    target=ModelIdentity(type="simulated"),
    judge=None,
    suites=(),
)
TURNLESS = {
    True: AttemptReport(attempt=1, status=Outcome.PASSED, composite=5.0, layers=Layers(fact=5.0), turns=()),
    False: AttemptReport(attempt=1, status=Outcome.FAILED, composite=1.0, layers=Layers(fact=1.0), turns=()),
}
BLANK = CaseReport(
    suite="s",
    key="",
    name="",
    file="s",
    line=None,
    fingerprint="f",
    status=Outcome.SKIPPED,
    attempts=(),
    layers=Layers(),
    composite=None,
    pass_rate=None,
)

Values = list[list[bool]]


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rng = random.Random(20261120)
    print(f"{pairs} pairs a row; reds in %; used: head runs a case")
    head = f"{'n':>4} {'runs':>4} {'drop':>5} | {'stored':>7} {'verified':>8} {'used':>5} |"
    print(f"{head} {'>2 pt':>6} {'t':>6} {'boot':>6}")
    for cases in (30, 100, 300):
        for repeats in (1, 3, 5):
            for drop in (0.0, 0.05, 0.10, 0.20):
                print(row(rng, cases, repeats, drop, pairs), flush=True)


def row(rng: random.Random, cases: int, repeats: int, drop: float, pairs: int) -> str:
    """One line of the table."""
    red = dict.fromkeys(("stored", "verified", "over", "t", "boot"), 0)
    runs = 0
    for _ in range(pairs):
        truth = [rng.betavariate(0.6, 0.2) for _ in range(cases)]
        worse = lowered(rng, truth, drop)
        base, head = drawn(rng, truth, repeats), drawn(rng, worse, repeats)
        stored, _ = in_rounds(base, head, repeats, Strictness.FINAL)
        red["stored"] += stored
        screened, used = in_rounds(base, head, repeats, Strictness.SCREENING)
        runs += used
        if screened:
            fresh = report(drawn(rng, truth, VERIFY_REPEATS), repeats)
            seen = report([values[:used] for values in head], repeats)
            again = compare(seen, fresh, "fresh", Strictness.VERIFYING)
            red["verified"] += again.verdict is ComparisonVerdict.REGRESSION
        differences = [fmean(h) - fmean(b) for b, h in zip(base, head, strict=True)]
        red["over"] += fmean(differences) < -FLOOR
        red["t"] += paired_t(differences)
        red["boot"] += bootstrap(rng, differences)
    share = {name: 100 * count / pairs for name, count in red.items()}
    return (
        f"{cases:>4} {repeats:>4} {100 * drop:>5.0f} | {share['stored']:>7.1f} {share['verified']:>8.1f} "
        f"{runs / pairs:>5.2f} | {share['over']:>6.1f} {share['t']:>6.1f} {share['boot']:>6.1f}"
    )


def lowered(rng: random.Random, truth: Sequence[float], drop: float) -> list[float]:
    """Probabilities whose mean is lower by `drop`: half by broken cases, half by a little everywhere."""
    worse = list(truth)
    target = fmean(truth) - drop / 2
    order = list(range(len(truth)))
    rng.shuffle(order)
    for index in order:
        if fmean(worse) <= target:
            break
        worse[index] *= max(0.02, 1 - (fmean(worse) - target) * len(truth) / max(truth[index], 1e-9))
    scale = max(0.0, (fmean(truth) - drop) / max(fmean(worse), 1e-9))
    return [p * min(1.0, scale) for p in worse]


def drawn(rng: random.Random, truth: Sequence[float], repeats: int) -> Values:
    return [[rng.random() < p for _ in range(repeats)] for p in truth]


def in_rounds(base: Values, head: Values, repeats: int, strictness: Strictness) -> tuple[bool, int]:
    """(red, rounds used) as a run decides it."""
    stored = report(base, repeats)
    for done in range(1, repeats + 1):
        found = compare(report([values[:done] for values in head], repeats), stored, "stored", strictness)
        if done == repeats or settled_early(found):
            return found.verdict is ComparisonVerdict.REGRESSION, done
    raise AssertionError("the last round always ends it")


def report(values: Values, planned: int) -> RunReport:
    cases = [
        over_attempts(replace(BLANK, key=str(index)), [TURNLESS[value] for value in of_case])
        for index, of_case in enumerate(values)
    ]
    return run_report(replace(INFO, repeat=planned), cases)


def paired_t(differences: Sequence[float]) -> bool:
    """One-sided at 1 %, the normal quantile widened for few cases (Cornish-Fisher)."""
    spread = stdev(differences)
    if spread == 0:
        return False
    z, freedom = NormalDist().inv_cdf(1 - ALPHA), len(differences) - 1
    quantile = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return fmean(differences) / (spread / sqrt(len(differences))) < -quantile


def bootstrap(rng: random.Random, differences: Sequence[float], resamples: int = 300) -> bool:
    """The 99 % percentile interval lies below zero."""
    size = len(differences)
    means = sorted(fmean(rng.choices(differences, k=size)) for _ in range(resamples))
    return means[int(resamples * 0.995) - 1] < 0


if __name__ == "__main__":
    main()
