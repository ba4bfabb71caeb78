"""The whole verdict on simulated changes of known truth: `python benchmarks/verdict_sim.py [--quick] [CHANGES]`.

Each change is decided by the product's own procedure (`runevals.verdict.settle`): rounds, fresh rounds and fresh
runs of single cases. Only the target is simulated. Each row of the table is a claim with its limits. Exits with 1
if one is missed; with `--always-lost` every e-value is infinite, and it must fail.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from statistics import fmean, stdev
from typing import Literal

from msgspec.structs import replace as changed

from runevals.lib.statistics import e_values
from runevals.records import (
    AttemptReport,
    CaseReport,
    CheckResult,
    Comparison,
    Layer,
    Layers,
    ModelIdentity,
    Outcome,
    RegressionRule,
    RunInfo,
    RunReport,
    State,
    TurnReport,
)
from runevals.verdict.case_runs import RunSide
from runevals.verdict.compare import compare
from runevals.verdict.headlines import warning
from runevals.verdict.matching import Key, Pair
from runevals.verdict.score import over_attempts, over_turns, run_report
from runevals.verdict.settle import FreshRounds, settled

Run = Mapping[str, float]  # unit → value; empty: it could not be measured
Draw = Callable[[random.Random], Run]  # one run of one case on one side
FRESH_ROUNDS = 4  # of either side
OUTCOME = "outcome"
INFO = RunInfo(
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
    duration_s=0.0,
    target=ModelIdentity(type="simulated"),
    judge=None,
    suites=(),
    repeat=3,
)


@dataclass(slots=True)
class Truth:
    """One simulated change: how each case comes out on either side, and how it is run."""

    base: list[Draw]
    head: list[Draw]
    parts: Mapping[str, Sequence[int]] = field(default_factory=dict)
    critical: bool = False  # all cases
    repeat: int = 3
    stored: int = 3  # runs a case of the stored base
    outage: Mapping[Literal["stored", "now"], float] = field(default_factory=dict)  # share of runs that fail
    errors: float = 0.0  # share of runs that have no value
    lost: frozenset[int] = frozenset()


class Simulated:
    """A Runner whose target draws its answers."""

    trouble = why_no_base = why_no_rounds = base_lacks = ""
    lost_before = ()
    of_branch = all_rounds = False
    can_run = True

    def __init__(self, truth: Truth, rng: random.Random) -> None:
        self.truth = truth
        self.rng = rng
        self.made: Counter[str] = Counter()  # runs of each side
        self.planned = truth.repeat
        self._scored: list[list[Run]] = [[] for _ in truth.base]

    def stored_base(self) -> RunReport:
        """What an earlier run left."""
        return self._report([self._runs(draw, "stored", self.truth.stored) for draw in self.truth.base])

    def next_round(self) -> RunReport:
        for place, draw in enumerate(self.truth.head):
            self._scored[place] += self._runs(draw, "now", 1)
        self.made["head"] += len(self._scored)
        return self._report(self._scored)

    def checking(self, cases: int) -> None:
        """Nothing is shown."""

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        draws = self.truth.base if side == "base" else self.truth.head
        self.made[side] += len(cases)
        return {pair.key: attempt(self._runs(draws[int(pair.head.key)], "now", 1)[0]) for pair in cases}

    def fresh_rounds(self, only: Sequence[Pair] | None, _why: str) -> FreshRounds:
        places = range(len(self.truth.base)) if only is None else [int(pair.head.key) for pair in only]
        sides = {}
        for side, draws in (("base", self.truth.base), ("head", self.truth.head)):
            self.made[side] += FRESH_ROUNDS * len(places)
            sides[side] = self._report([self._runs(draws[n], "now", FRESH_ROUNDS) for n in places], places)
        return FreshRounds(base=sides["base"], head=sides["head"], source="a fresh run")

    def _runs(self, draw: Draw, hour: Literal["stored", "now"], number: int) -> list[Run]:
        return [self._run(draw, hour) for _ in range(number)]

    def _run(self, draw: Draw, hour: Literal["stored", "now"]) -> Run:
        values = draw(self.rng)
        if self.rng.random() < self.truth.outage.get(hour, 0.0):
            return dict.fromkeys(values, 0.0)
        return {} if self.rng.random() < self.truth.errors else values

    def _report(self, runs: Sequence[Sequence[Run]], places: Sequence[int] | None = None) -> RunReport:
        names = range(len(runs)) if places is None else places
        return run_report(INFO, [self._case(name, made) for name, made in zip(names, runs, strict=True)])

    def _case(self, place: int, runs: Sequence[Run]) -> CaseReport:
        labels = {"category": "", "group": "", "suite": ""}
        for part, members in self.truth.parts.items():
            if place in members:
                kind = part.split()[0] if part.split()[0] in labels else "category"
                labels[kind] = part
        return case(place, runs, critical=self.truth.critical, **{k: v for k, v in labels.items() if v})


def case(place: int, runs: Sequence[Run], **labels: object) -> CaseReport:
    """A case with these runs."""
    blank = CaseReport(
        **{"suite": "s", **labels},
        key=str(place),
        name=str(place),
        file="s",
        line=None,
        fingerprint=str(place),
        status=Outcome.SKIPPED,
        attempts=(),
        layers=Layers(),
        composite=None,
        pass_rate=None,
    )
    return over_attempts(blank, [changed(attempt(run), attempt=number) for number, run in enumerate(runs, 1)])


PASSED = AttemptReport(attempt=1, status=Outcome.PASSED, composite=5.0, layers=Layers(fact=5.0), turns=())
FAILED = AttemptReport(attempt=1, status=Outcome.FAILED, composite=1.0, layers=Layers(fact=1.0), turns=())
ERRORED = AttemptReport(attempt=1, status=Outcome.ERRORED, composite=None, layers=Layers(), turns=())


def attempt(run: Run) -> AttemptReport:
    """The attempt with these values: a judge's score, a grader's, or checks that pass or fail."""
    if not run:
        return ERRORED
    if len(run) == 1:
        return PASSED if run[OUTCOME] else FAILED
    results = [result(name, value, passes=bool(run[OUTCOME])) for name, value in run.items() if name != OUTCOME]
    return over_turns(1, [TurnReport(prompt="p", expected=None, output="o", results=tuple(results))])


def result(name: str, value: float, *, passes: bool) -> CheckResult:
    """One check of a run; the score of a judge or a grader passes as the run does."""
    is_judge, is_check = name == "judge", name.startswith("check")
    return CheckResult(
        id=name,
        evaluator=name,
        layer=Layer.JUDGE if is_judge else Layer.FACT,
        outcome=Outcome.PASSED if (value == 1 if is_check else passes) else Outcome.FAILED,
        score=value,
        value=1 + 4 * value if is_judge else value,
        scale=(1.0, 5.0) if is_judge else (0.0, 1.0),
        judge_model="m" if is_judge else None,
    )


End = Literal["worse", "unknown", "warned", "fine"]
ENDS: Sequence[End] = ("worse", "unknown", "warned", "fine")


def end_of(comparison: Comparison) -> End:
    """What the first line says."""
    if comparison.state is State.NOT_WORSE:
        return "warned" if warning(comparison) else "fine"
    return "worse" if comparison.state is State.WORSE else "unknown"


def decided(truth: Truth, rng: random.Random) -> tuple[End, float, float]:
    """One change, with the runs of head and base a case."""
    runner = Simulated(truth, rng)
    _, comparison = settled(runner, runner.stored_base(), "stored", RegressionRule())
    return end_of(comparison), runner.made["head"] / len(truth.base), runner.made["base"] / len(truth.base)


# Kinds of suites: a case is drawn as its draw.


def coin(rate: float) -> Draw:
    passed, failed = {OUTCOME: 1.0}, {OUTCOME: 0.0}
    return lambda rng: passed if rng.random() < rate else failed


def checks(rates: Sequence[float]) -> Draw:
    """Checks of one run, and the outcome: all pass."""

    def draw(rng: random.Random) -> Mapping[str, float]:
        found = {f"check {number}": float(rng.random() < rate) for number, rate in enumerate(rates)}
        return {**found, OUTCOME: float(all(found.values()))}

    return draw


def judged(mean: float, sd: float) -> Draw:
    """A judge's score of 1–5, as 0–1; it passes from 3."""

    def draw(rng: random.Random) -> Mapping[str, float]:
        score = min(5.0, max(1.0, rng.gauss(mean, sd)))
        return {"judge": (score - 1) / 4, OUTCOME: float(score >= 3)}

    return draw


def graded(score: float) -> Draw:
    return lambda _: {"grader": score, OUTCOME: 1.0}


Suite = Callable[[random.Random, int], list[Draw]]


def of_rates(rate: Callable[[random.Random], float]) -> Suite:
    return lambda rng, n: [coin(rate(rng)) for _ in range(n)]


def five_checks(rng: random.Random, n: int) -> list[Draw]:
    return [checks([rng.betavariate(0.6, 0.2) ** 0.25 for _ in range(5)]) for _ in range(n)]


KINDS: Mapping[str, Suite] = {
    "U-shape": of_rates(lambda rng: rng.betavariate(0.6, 0.2)),
    "steady 0.9": of_rates(lambda _: 0.9),
    "steady 0.95": of_rates(lambda _: 0.95),
    "uniform 0.5-1": of_rates(lambda rng: rng.uniform(0.5, 1)),
    "mix": of_rates(lambda rng: rng.choice((0.5, 0.7, 0.9, 0.97, 1.0))),
    "0.5": of_rates(lambda _: 0.5),
    "judge 0.7": lambda rng, n: [judged(rng.uniform(2.5, 4.9), 0.7) for _ in range(n)],
    "judge 1.2": lambda rng, n: [judged(rng.uniform(2.5, 4.9), 1.2) for _ in range(n)],
    "five checks": five_checks,
}


SIZES = (8, 30, 100, 400)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A row of the table: changes that are drawn alike, and limits on what comes of them."""

    name: str
    draw: Callable[[random.Random], Truth]
    least: Mapping[str, float] = field(default_factory=dict)  # outcome → smallest share
    most: Mapping[str, float] = field(default_factory=dict)
    head: float | None = None  # runs a case, at most
    base: float | None = None
    weight: float = 1.0  # of the number of changes
    quick: bool = False  # in the short form, too


UNCHANGED = {"worse": 0.01, "unknown": 0.03}
BAD_HOUR = {"worse": 0.02}
NEVER_FINE = {"fine": 0.0}
DEAD = {"worse": 0.97}


def parts_of(cases: int, *, nested: bool = False) -> Mapping[str, Sequence[int]]:
    """Six categories; nested: also two suites, and twelve groups in them."""
    names = {f"category {part}": range(part, cases, 6) for part in range(6)}
    if not nested:
        return names
    half = cases // 2
    groups = {f"group {part}": range(part, cases, 12) for part in range(12)}
    return {"suite 1": range(half), "suite 2": range(half, cases), **names, **groups}


def unchanged(
    kind: str, cases: int, *, nested: bool = False, **options: object
) -> Callable[[random.Random], Truth]:
    def draw(rng: random.Random) -> Truth:
        suite = KINDS[kind](rng, cases)
        return replace(Truth(suite, list(suite), parts_of(cases, nested=nested)), **options)

    return draw


def one(kind: str, cases: int, before: Draw, now: Draw, **options: object) -> Callable[[random.Random], Truth]:
    """One case that changes in an unchanged suite."""

    def draw(rng: random.Random) -> Truth:
        rest = KINDS[kind](rng, cases)[1:]
        return replace(Truth([before, *rest], [now, *rest], parts_of(cases)), **options)

    return draw


def claims() -> Iterator[Claim]:
    yield from unchanged_claims()
    yield from bad_hours()
    yield from costs()
    yield from single_losses()
    yield from losses_of_units()
    yield from losses_of_parts()


def unchanged_claims() -> Iterator[Claim]:
    for kind in KINDS:
        for cases in SIZES:
            for repeat in (1, 3):
                for stored in (1, 3, 10):
                    yield Claim(
                        name=f"unchanged, {kind}, {cases} cases, repeat {repeat}, stored {stored}",
                        draw=unchanged(kind, cases, repeat=repeat, stored=stored),
                        most=UNCHANGED,
                        weight=1.0 if cases <= 100 else 0.25,
                        quick=cases == 30 and repeat == stored == 3,
                    )
    for cases in SIZES:
        yield Claim(
            name=f"unchanged, U-shape, {cases} cases, nested parts",
            draw=unchanged("U-shape", cases, nested=True),
            most=UNCHANGED,
            weight=1.0 if cases <= 100 else 0.25,
        )
    for kind in KINDS:
        for cases in (30, 100):
            draw = unchanged(kind, cases, critical=True)
            yield Claim(name=f"unchanged, {kind}, {cases} cases, all critical", draw=draw, most=UNCHANGED)


def bad_hours() -> Iterator[Claim]:
    for hour in ("now", "stored"):
        for outage in (0.10, 0.20, 0.33, 0.50):
            for kind in ("U-shape", "steady 0.9"):
                for cases in (30, 100):
                    yield Claim(
                        name=f"unchanged, {kind}, {cases} cases, {hour} in {100 * outage:.0f} % outages",
                        draw=unchanged(kind, cases, outage={hour: outage}),
                        most=BAD_HOUR,
                        quick=outage == 0.33 and cases == 30,
                    )


def costs() -> Iterator[Claim]:
    for kind, head in (("steady 0.9", 1.3), ("steady 0.95", 1.3), ("U-shape", 1.5), ("uniform 0.5-1", 1.8)):
        for cases in (30, 100, 400):
            yield Claim(
                name=f"cost, unchanged, {kind}, {cases} cases",
                draw=unchanged(kind, cases),
                head=head,
                base=0.6,
                weight=2.0 if cases <= 100 else 1.0,
                quick=cases == 30,
            )


def single_losses() -> Iterator[Claim]:
    always, never = coin(1.0), coin(0.0)
    conditions: Mapping[str, Mapping[str, object]] = {
        "": {},
        ", base from 33 % outages": {"outage": {"stored": 0.33}},
        ", 20 % errors": {"errors": 0.2},
        ", drift of both sides by a quarter": {"outage": {"now": 0.25}},
    }
    for condition, options in conditions.items():
        for kind in KINDS:
            for cases in SIZES:
                yield Claim(
                    name=f"a case 100 → 0 %, {kind}, {cases} cases{condition}",
                    draw=one(kind, cases, always, never, **options),
                    least=DEAD,
                    most=NEVER_FINE,
                    weight=0.5 if cases <= 100 else 0.2,
                    quick=cases == 30 and kind in ("U-shape", "uniform 0.5-1"),
                )
    for before, least in ((0.9, 0.95), (0.8, 0.90), (0.7, 0.85)):
        for kind in ("U-shape", "steady 0.9", "uniform 0.5-1", "mix"):
            for cases in (30, 100):
                yield Claim(
                    name=f"a case {100 * before:.0f} → 0 %, {kind}, {cases} cases",
                    draw=one(kind, cases, coin(before), never),
                    least={"worse": least},
                    quick=cases == 30 and kind == "mix",
                )
    for repeat in (3, 10):
        draw = one("U-shape", 30, always, coin(0.4), repeat=repeat)
        yield Claim(name=f"a case 100 → 40 %, 30 cases, repeat {repeat}", draw=draw, least={"worse": 0.60})


def losses_of_units() -> Iterator[Claim]:
    changes: Mapping[str, tuple[Draw, Draw]] = {
        "one check of five dies, case failed before": (checks((1, 1, 1, 1, 0)), checks((1, 1, 1, 0, 0))),
        "one check of five dies, case passed": (checks((1, 1, 1, 1, 1)), checks((1, 1, 1, 1, 0))),
        "turn 2 of 2 dies, turn 1 always fails": (checks((0, 1)), checks((0, 0))),
        "a grader's score 1 → 0.25": (graded(1.0), graded(0.25)),
        "a judge's 4.9 → 3.2": (judged(4.9, 0.15), judged(3.2, 0.15)),
    }
    for name, (before, now) in changes.items():
        for kind in ("U-shape", "five checks", "judge 0.7"):
            yield Claim(
                name=f"{name}, {kind}, 30 cases",
                draw=one(kind, 30, before, now),
                least={"worse": 0.95},
                most=NEVER_FINE,
                quick=kind == "U-shape",
            )


def losses_of_parts() -> Iterator[Claim]:
    yield Claim(name="a category of 15 lost in 1,000", draw=category_lost, least={"worse": 0.95}, weight=0.1)
    for start, least in ((0.95, 0.90), (0.90, 0.90), (0.80, 0.75)):
        draw = paid_by_another(start)
        name = f"a part of 20 falls 40 points from {100 * start:.0f} %, paid by another"
        yield Claim(name=name, draw=draw, least={"worse": least}, quick=start == 0.95)
    for kind, least in (("steady", 0.90), ("U-shape", 0.82)):
        draw = ten_points(kind)
        yield Claim(name=f"10 points lost, {kind}, 100 cases", draw=draw, least={"worse": least}, quick=True)


def category_lost(_rng: random.Random) -> Truth:
    rest = [coin(0.97)] * 985
    parts = {"refunds": range(15), "rest": range(15, 1000)}
    return Truth([coin(0.97)] * 15 + rest, [coin(0.0)] * 15 + rest, parts)


def steady(rng: random.Random) -> float:
    """Of ten cases seven nearly always pass, the others now and then."""
    return 0.995 if rng.random() < 0.7 else rng.betavariate(2.0, 1.0)


def paid_by_another(start: float) -> Callable[[random.Random], Truth]:
    def draw(rng: random.Random) -> Truth:
        rest = [coin(steady(rng)) for _ in range(60)]
        parts = {"a": range(20), "b": range(20, 40), "c": range(40, 100)}
        base = [coin(start)] * 20 + [coin(0.4)] * 20 + rest
        return Truth(base, [coin(start - 0.4)] * 20 + [coin(0.8)] * 20 + rest, parts)

    return draw


def ten_points(kind: str) -> Callable[[random.Random], Truth]:
    """Half of the drop by broken cases, half by a little everywhere."""

    def draw(rng: random.Random) -> Truth:
        rates = [steady(rng) if kind == "steady" else rng.betavariate(0.6, 0.2) for _ in range(100)]
        head, goal = list(rates), sum(rates) - 5.0
        for index in rng.sample(range(100), 100):
            head[index] = max(0.0, head[index] - max(0.0, sum(head) - goal))
        scale = (sum(rates) - 10.0) / sum(head)
        return Truth([coin(p) for p in rates], [coin(p * scale) for p in head], parts_of(100))

    return draw


def row(claim: Claim, changes: int, seed: int) -> tuple[str, bool]:
    """The line of one claim, and whether it holds."""
    rng = random.Random(f"{seed} {claim.name}")
    number = max(10, round(changes * claim.weight))
    seen = [decided(claim.draw(rng), rng) for _ in range(number)]
    counts = Counter(end for end, _, _ in seen)
    holds = all(counts[name] / number >= least - spread(least, number) for name, least in claim.least.items())
    holds &= all(counts[name] / number <= most + spread(most, number) for name, most in claim.most.items())
    runs = []
    for limit, made in ((claim.head, [head for _, head, _ in seen]), (claim.base, [base for _, _, base in seen])):
        runs.append(fmean(made))
        holds &= limit is None or runs[-1] <= limit + 2 * stdev(made) / number**0.5
    limits = [f"{name} ≥ {100 * least:.0f}" for name, least in claim.least.items()]
    limits += [f"{name} ≤ {100 * most:.0f}" for name, most in claim.most.items()]
    limits += [f"runs ≤ {claim.head}, {claim.base}"] if claim.head is not None else []
    shares = "".join(f"{100 * counts[name] / number:>8.1f}" for name in ENDS)
    mark = "  " if holds else "✗ "
    return f"{mark}{claim.name:<70}{number:>5}{shares}{runs[0]:>7.2f}{runs[1]:>6.2f}   {', '.join(limits)}", holds


def spread(limit: float, number: int) -> float:
    """What a true share at its limit may miss it by, in so few changes: two standard errors."""
    return 2 * (limit * (1 - limit) / number) ** 0.5


def stored_only(changes: int, seed: int) -> Iterator[tuple[str, bool]]:
    """Results that cannot be run again: what chance predicts, on unchanged suites and with one dead case."""
    kinds: Mapping[str, Callable[[random.Random], float]] = {
        "U-shape": lambda rng: rng.betavariate(0.6, 0.2),
        "steady 0.9": lambda _: 0.9,
        "steady 0.95": lambda _: 0.95,
        "p = 0.7": lambda _: 0.7,
    }
    for name, rate in kinds.items():
        for runs in (1, 3, 5):
            for cases in (8, 30, 100, 300):
                rng = random.Random(f"{seed} {name} {runs} {cases}")
                seen: Counter[str] = Counter()
                for _ in range(changes):
                    rates = [rate(rng) for _ in range(cases)]
                    sides = [[sum(rng.random() < p for _ in range(runs)) for p in rates] for _ in range(2)]
                    seen[judgement(*sides, runs)] += 1
                    sides[0][0], sides[1][0] = runs, 0
                    seen["dead " + judgement(*sides, runs)] += 1
                noticed = (seen["dead worse"] + seen["dead unknown"]) / changes
                unknown, worse, most = (
                    seen["unknown"] / changes,
                    seen["worse"] / changes,
                    0.09 if runs == 1 else 0.04,
                )
                holds = unknown <= most + spread(most, changes) and worse <= 0.01 + spread(0.01, changes)
                holds &= not (runs == 5 and cases <= 30) or noticed >= 0.95 - spread(0.95, changes)
                title = f"stored only, {name}, {cases} cases, {runs} runs a side"
                figures = (
                    f"worse {100 * worse:5.1f}  unknown {100 * unknown:5.1f}  dead noticed {100 * noticed:5.1f}"
                )
                yield f"{'  ' if holds else '✗ '}{title:<70}{changes:>5}   {figures}", holds


def judgement(base: Sequence[int], head: Sequence[int], runs: int) -> End:
    """What two stored results say, for passes a case of so many runs."""
    sides = [
        run_report(
            INFO,
            [
                case(place, [{OUTCOME: 1.0}] * passes + [{OUTCOME: 0.0}] * (runs - passes))
                for place, passes in enumerate(side)
            ],
        )
        for side in (head, base)
    ]
    return end_of(compare(sides[0], sides[1], "stored"))


def speed() -> tuple[str, bool]:
    """CPU time of comparing 10,000 cases × 3 + 3 runs with a check each, the best of five."""
    base, head = sides_of(10_000)
    gc.set_threshold(1_000_000, 20, 20)  # as the command line does
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        compare(head, base, "stored")
        best = min(best, time.process_time() - began)
    return f"  two results of 10,000 cases × 3 + 3 values compared: {1000 * best:.0f} ms CPU", True


def sides_of(cases: int) -> tuple[RunReport, RunReport]:
    """(base, head) of an unchanged suite with a check a case, three runs each."""
    rng = random.Random(1)
    draws = [checks([rng.betavariate(0.6, 0.2)]) for _ in range(cases)]
    runner = Simulated(Truth(draws, draws, parts_of(cases)), rng)
    base = runner.stored_base()
    for _ in range(3):
        head = runner.next_round()
    return base, head


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("changes", nargs="?", type=int, default=200, help="simulated changes a row")
    parser.add_argument("--quick", action="store_true", help="few rows and changes, about a minute")
    parser.add_argument("--always-lost", action="store_true", help="break the test of single cases")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--seed", type=int, default=20261127)
    options = parser.parse_args()
    if options.always_lost:
        e_values.Pairs.e_value = property(lambda pairs: float("inf") if pairs.pairs else 1.0)  # type: ignore[method-assign, assignment]
    changes = 20 if options.quick else options.changes
    names = "".join(f"{name:>8}" for name in ENDS)
    print(f"  {'share of changes, %':<70}{'n':>5}{names}   head  base")
    lines = (
        row(claim, changes, options.seed)
        for claim in claims()
        if options.only in claim.name and (claim.quick or not options.quick)
    )
    missed = 0
    rest = () if options.only else chain(stored_only(max(20, changes // 2), options.seed), [speed()])
    for line, holds in chain(lines, rest):
        missed += not holds
        print(line, flush=True)
    print(f"{missed} claims missed" if missed else "all claims hold")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
