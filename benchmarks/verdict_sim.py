"""The whole verdict on simulated changes of known truth: `python benchmarks/verdict_sim.py [--quick] [CHANGES]`.

Each change is decided by the product's own procedure (`runevals.verdict.procedure`): rounds, second look and
suspects. Only the target is simulated: a case is a pass probability on each side. Prints each claim, its limit and
exits with 1 where one is missed. With `--always-confirm` every suspect is called lost, and it must fail.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import fmean, stdev
from typing import Literal

from msgspec.structs import replace

from runevals.records import (
    AttemptReport,
    CaseReport,
    Comparison,
    ComparisonVerdict,
    Layers,
    ModelIdentity,
    Outcome,
    RegressionRule,
    RunInfo,
    RunReport,
)
from runevals.verdict import fresh_runs, suspects
from runevals.verdict.compare import compare
from runevals.verdict.fresh_runs import RunSide
from runevals.verdict.matching import Key, Pair
from runevals.verdict.procedure import compare_in_rounds
from runevals.verdict.score import over_attempts, run_report
from runevals.verdict.suspects import SuspectRuns
from runevals.verdict.verification import FreshLook

BASE_LOOKS, HEAD_LOOKS = 6, 2
INFO = RunInfo(
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
    duration_s=0.0,
    target=ModelIdentity(type="simulated"),
    judge=None,
    suites=(),
)
ATTEMPTS = {
    True: AttemptReport(attempt=1, status=Outcome.PASSED, composite=5.0, layers=Layers(fact=5.0), turns=()),
    False: AttemptReport(attempt=1, status=Outcome.FAILED, composite=1.0, layers=Layers(fact=1.0), turns=()),
}
Side = RunSide | Literal["stored"]  # stored: the base, in an earlier run
Answer = Callable[[Side, int], AttemptReport]  # how the next run of a case comes out


@dataclass(slots=True)
class Truth:
    """One simulated change: how probably each case passes on either side, and how it is run."""

    base: list[float]
    head: list[float]
    critical: frozenset[int] = frozenset()
    parts: list[str] = field(default_factory=list)  # the category of each case; empty: none
    repeat: int = 3
    stored_runs: int = 3
    outage: float = 0.0  # share of runs that fail now, on both sides; the stored base was before it
    base_can_run: bool = True
    edited: frozenset[int] = frozenset()  # what the change rewrites; `old_form` is how they pass in their old form
    old_form: list[float] = field(default_factory=list)
    renamed: frozenset[int] = frozenset()  # the change gives them another key
    deterministic: bool = False

    def key(self, index: int, *, of_head: bool) -> str:
        """Under which a side has the case; as a number it is the case's."""
        return str(index) if of_head or index not in self.renamed else f"0{index}"

    def blank(self, index: int, *, of_head: bool = False) -> CaseReport:
        """The case without any run."""
        key = self.key(index, of_head=of_head)
        return CaseReport(
            suite="s",
            key=key,
            name=key,
            file="s",
            line=None,
            fingerprint=f"edited {index}" if of_head and index in self.edited else str(index),
            status=Outcome.SKIPPED,
            attempts=(),
            layers=Layers(),
            composite=None,
            pass_rate=None,
            category=self.parts[index] if self.parts else None,
            critical=index in self.critical,
        )


def coins(truth: Truth, rng: random.Random) -> Answer:
    """Each run is a coin."""
    now = 1 - truth.outage
    rates: Mapping[Side, list[float]] = {
        "stored": truth.base,
        "base": [p * now for p in truth.base],
        "head": [p * now for p in truth.head],
        "old form": [p * now for p in truth.old_form],
    }
    return lambda side, index: ATTEMPTS[rng.random() < rates[side][index]]


class Simulated:
    """A Runner whose target comes out as `answer` says, run by run."""

    trouble = ""
    lost_before = ()
    of_branch = False
    base_lacks = ""

    def __init__(self, truth: Truth, answer: Answer, *, all_rounds: bool = False) -> None:
        self.truth = truth
        self.planned = truth.repeat
        self.all_rounds = all_rounds
        self.can_run = True
        self.why_no_base = "" if truth.base_can_run else "a file"
        self.why_no_second_look = self.why_no_base
        self.head_runs = 0
        self._answer = answer
        self._scored: list[list[AttemptReport]] = [[] for _ in truth.head]

    def stored_base(self) -> RunReport:
        """What an earlier run left."""
        cases = range(len(self.truth.base))
        return self._report({index: self._runs("stored", index, self.truth.stored_runs) for index in cases})

    def next_round(self) -> RunReport:
        rounds = self.planned if self.all_rounds else 1
        for index, attempts in enumerate(self._scored):
            attempts.extend(self._runs("head", index, rounds))
        return self._report(dict(enumerate(self._scored)), of_head=True)

    def finish(self, cases: Sequence[Pair]) -> RunReport:
        for index in (int(pair.head.key) for pair in cases):
            self._scored[index] += self._runs("head", index, self.planned - len(self._scored[index]))
        return self._report(dict(enumerate(self._scored)), of_head=True)

    def look_again(self, only: Sequence[Pair] | None, _why: str) -> FreshLook | str:
        indices = range(len(self.truth.head)) if only is None else [int(pair.head.key) for pair in only]
        base = self._report({index: self._runs("base", index, BASE_LOOKS) for index in indices})
        head = self._report({index: self._runs("head", index, HEAD_LOOKS) for index in indices}, of_head=True)
        return FreshLook(base=base, head=head, source="a fresh run")

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        return {pair.key: self._runs(side, int(pair.head.key), 1)[0] for pair in cases}

    def checking(self, cases: Sequence[Key]) -> Sequence[Key]:
        return cases

    def _runs(self, side: Side, index: int, number: int) -> list[AttemptReport]:
        self.head_runs += number * (side in ("head", "old form"))
        return [self._answer(side, index) for _ in range(number)]

    def _report(self, runs: Mapping[int, Sequence[AttemptReport]], *, of_head: bool = False) -> RunReport:
        cases = [
            over_attempts(self.truth.blank(index, of_head=of_head), attempts) for index, attempts in runs.items()
        ]
        target = replace(INFO.target, deterministic=self.truth.deterministic)
        return run_report(replace(INFO, repeat=self.truth.repeat, target=target), cases)


@dataclass(slots=True)
class Seen:
    """What came of one simulated change."""

    comparison: Comparison
    runs_a_case: float

    @property
    def outcome(self) -> str:
        """In the words of the table."""
        found = self.comparison
        match found.verdict:
            case ComparisonVerdict.REGRESSION:
                return "blocked"
            case ComparisonVerdict.INCONCLUSIVE:
                return "open" if found.inconclusive_by == "suspects" else "inconclusive"
            case ComparisonVerdict.NO_CHANGE | ComparisonVerdict.IMPROVED:
                return "fine"
            case _:
                return "warned"

    @property
    def named(self) -> frozenset[int]:
        """The cases that are called lost."""
        return frozenset(int(s.key) for s in self.comparison.suspects if s.state == "confirmed")


def decided(truth: Truth, rng: random.Random) -> Seen:
    """One change through the product's procedure."""
    runner = Simulated(truth, coins(truth, rng))
    _, comparison = compare_in_rounds(runner, runner.stored_base(), "stored", RegressionRule())
    return Seen(comparison, runner.head_runs / len(truth.head))


def ushape(rng: random.Random, cases: int) -> list[float]:
    """A noisy suite: mean 0.75, and two runs of a case disagree 17 % of the time."""
    return [rng.betavariate(0.6, 0.2) for _ in range(cases)]


def steady(rng: random.Random, cases: int) -> list[float]:
    """Of ten cases seven nearly always pass, the others now and then."""
    return [0.995 if rng.random() < 0.7 else rng.betavariate(2.0, 1.0) for _ in range(cases)]


SUITES: Mapping[str, Callable[[random.Random, int], list[float]]] = {"ushape": ushape, "steady": steady}
SIX = [f"part {n}" for n in range(6)]


def in_six(cases: int) -> list[str]:
    return [SIX[index % 6] for index in range(cases)]


@dataclass(frozen=True, slots=True)
class Claim:
    """A row of the table: changes that are drawn alike, and limits on shares of what comes of them."""

    name: str
    draw: Callable[[random.Random], Truth]
    least: Mapping[str, float] = field(default_factory=dict)  # outcome → smallest share
    most: Mapping[str, float] = field(default_factory=dict)
    runs_a_case: float | None = None
    weight: float = 1.0  # of the number of changes
    lost: Callable[[Truth], frozenset[int]] = field(default=lambda _: frozenset())  # must be named


UNCHANGED = {"blocked": 0.01, "open": 0.03, "inconclusive": 0.05}


def claims() -> Iterator[Claim]:
    for suite, draw in SUITES.items():
        for cases in (8, 30, 100, 300, 1000):
            yield Claim(
                f"unchanged, {suite}, {cases} cases, six parts, 3 critical",
                lambda rng, draw=draw, cases=cases: unchanged(rng, draw, cases),
                most=UNCHANGED,
                weight=1.0 if cases <= 300 else 0.4,
            )
        for cases in (30, 100, 300):
            yield Claim(
                f"cost unchanged, {suite}, {cases} cases, six parts",
                lambda rng, draw=draw, cases=cases: replace(unchanged(rng, draw, cases), critical=frozenset()),
                runs_a_case=1.6,
                weight=0.5,
            )
    for suite, draw in SUITES.items():
        yield Claim(
            f"unchanged, {suite}, 100 cases, 10 % outages now",
            lambda rng, draw=draw: replace(unchanged(rng, draw, 100), outage=0.10),
            most={"blocked": 0.07},
        )
    for cases, least in ((8, 0.90), (30, 0.90), (100, 0.90), (1000, 0.85)):
        for suite, draw in SUITES.items():
            yield Claim(
                f"a case 100 → 0 %, {suite}, {cases} cases",
                lambda rng, draw=draw, cases=cases: one_lost(rng, draw, cases, 1.0, 0.0),
                least={"blocked": least},
                weight=1.0 if cases <= 100 else 0.3,
            )
    yield Claim(
        "a case 100 → 20 %, steady, 30 cases", lambda rng: one_lost(rng, steady, 30, 1.0, 0.2), {"blocked": 0.65}
    )
    yield Claim(
        "a critical case 100 → 20 %, steady, 30 cases",
        lambda rng: replace(one_lost(rng, steady, 30, 1.0, 0.2), critical=frozenset({0})),
        {"blocked": 0.90},
    )
    yield Claim("a critical case 90 → 0 % among ten suspects, 100 cases", among_ten, {"blocked": 0.90})
    yield Claim(
        "70 suspects of 100 at once, 10 of them dead",
        bad_suite,
        most={"fine": 0.0},
        weight=0.5,
    )
    yield Claim("a category of 15 lost in 1,000", category_lost, {"blocked": 0.95}, weight=0.3)
    for start, least in ((0.95, 0.90), (0.80, 0.75)):
        yield Claim(
            f"a part of 20 falls 40 points from {100 * start:.0f} %, paid by another",
            lambda rng, start=start: paid_by_another(rng, start),
            {"blocked": least},
        )
    for suite, least in (("steady", 0.90), ("ushape", 0.82)):
        yield Claim(
            f"10 points lost, {suite}, 100 cases",
            lambda rng, draw=SUITES[suite]: ten_points(rng, draw),
            {"blocked": least},
        )
    yield Claim(
        "a case 100 → 0 % against a file, 100 cases",
        lambda rng: replace(one_lost(rng, steady, 100, 1.0, 0.0), base_can_run=False),
        most={"fine": 0.0},
    )


def unchanged(rng: random.Random, draw: Callable[[random.Random, int], list[float]], cases: int) -> Truth:
    rates = [*([0.99] * 3), *draw(rng, cases - 3)]
    return Truth(rates, list(rates), critical=frozenset(range(3)), parts=in_six(cases))


def one_lost(
    rng: random.Random, draw: Callable[[random.Random, int], list[float]], cases: int, before: float, now: float
) -> Truth:
    rates = draw(rng, cases)
    rates[0] = before
    return Truth(rates, [now, *rates[1:]])


def among_ten(_rng: random.Random) -> Truth:
    rates = [0.9] + [0.7] * 30 + [0.995] * 69
    return Truth(rates, [0.0, *rates[1:]], critical=frozenset({0}))


def bad_suite(_rng: random.Random) -> Truth:
    rates = [1.0] * 10 + [0.5] * 90
    return Truth(rates, [0.0] * 10 + rates[10:])


def category_lost(_rng: random.Random) -> Truth:
    rates = [0.97] * 1000
    parts = ["refunds"] * 15 + ["rest"] * 985
    return Truth(rates, [0.0] * 15 + rates[15:], parts=parts)


def paid_by_another(rng: random.Random, start: float) -> Truth:
    rates = [start] * 20 + [0.4] * 20 + steady(rng, 60)
    head = [start - 0.4] * 20 + [0.8] * 20 + rates[40:]
    return Truth(rates, head, parts=["a"] * 20 + ["b"] * 20 + ["c"] * 60)


def ten_points(rng: random.Random, draw: Callable[[random.Random, int], list[float]]) -> Truth:
    """Half of the drop by broken cases, half by a little everywhere."""
    rates = draw(rng, 100)
    head, goal = list(rates), sum(rates) - 5.0
    for index in rng.sample(range(100), 100):
        if sum(head) <= goal:
            break
        head[index] = max(0.0, head[index] - (sum(head) - goal))
    scale = (sum(rates) - 10.0) / sum(head)
    return Truth(rates, [p * scale for p in head])


def row(claim: Claim, changes: int, seed: int) -> tuple[str, bool]:
    """The line of one claim, and whether it holds."""
    rng = random.Random(f"{seed} {claim.name}")
    number = max(10, round(changes * claim.weight))
    seen = [decided(claim.draw(rng), rng) for _ in range(number)]
    counts = Counter(one.outcome for one in seen)
    runs, error = fmean(used := [one.runs_a_case for one in seen]), stdev(used) / number**0.5
    holds = all(counts[name] / number >= least - spread(least, number) for name, least in claim.least.items())
    holds &= all(counts[name] / number <= most + spread(most, number) for name, most in claim.most.items())
    holds &= claim.runs_a_case is None or runs <= claim.runs_a_case + 2 * error
    limits = [f"{name} ≥ {100 * least:.0f}" for name, least in claim.least.items()]
    limits += [f"{name} ≤ {100 * most:.0f}" for name, most in claim.most.items()]
    limits += [f"runs ≤ {claim.runs_a_case}"] if claim.runs_a_case is not None else []
    shares = "".join(f"{100 * counts[name] / number:>8.1f}" for name in COLUMNS)
    mark = "  " if holds else "✗ "
    return f"{mark}{claim.name:<62}{number:>6}{shares}{runs:>7.2f}   {', '.join(limits)}", holds


COLUMNS = ("blocked", "open", "inconclusive", "warned", "fine")


def spread(limit: float, number: int) -> float:
    """What a true share at its limit may miss it by, in so few changes: two standard errors."""
    return 2 * (limit * (1 - limit) / number) ** 0.5


def compare_speed() -> str:
    """CPU time of comparing 10,000 cases × 3 + 3 runs, the best of five, as the command line collects garbage."""
    gc.set_threshold(1_000_000, 20, 20)
    rng = random.Random(1)
    truth = Truth(base := ushape(rng, 10_000), list(base), parts=in_six(10_000))
    runner = Simulated(truth, coins(truth, rng))
    stored, head = runner.stored_base(), runner.stored_base()
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        compare(head, stored, "stored")
        best = min(best, time.process_time() - began)
    return f"compare of 10,000 cases × 3 + 3 runs: {1000 * best:.0f} ms CPU"


def always_confirm() -> None:
    """Instead of the test: every suspect that was run is called lost."""

    def settled(batch: Sequence[SuspectRuns], _cases: int, _rule: RegressionRule) -> None:
        for suspect in batch:
            suspect.state, suspect.reason = "confirmed", ""

    fresh_runs.singles.settle = settled  # type: ignore[assignment]
    suspects.drop_hopeless = fresh_runs.singles.drop_hopeless = lambda *_: None  # type: ignore[assignment]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("changes", nargs="?", type=int, default=400, help="simulated changes a row")
    parser.add_argument("--quick", action="store_true", help="25 changes a row")
    parser.add_argument("--always-confirm", action="store_true", help="break the test of single cases")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--seed", type=int, default=20261122)
    told = parser.parse_args()
    if told.always_confirm:
        always_confirm()
    changes = 25 if told.quick else told.changes
    print(f"  {'share of changes, %':<62}{'n':>6}" + "".join(f"{name[:7]:>8}" for name in COLUMNS) + "   runs")
    missed = 0
    for claim in claims():
        if told.only in claim.name:
            line, holds = row(claim, changes, told.seed)
            missed += not holds
            print(line, flush=True)
    print(compare_speed())
    print(f"{missed} claims missed" if missed else "all claims hold")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
