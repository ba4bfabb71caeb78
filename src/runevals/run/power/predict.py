"""Measured runs of a suite → how often the verdict is wrong on it, and the smallest change that it sees."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import filterfalse
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import grouped
from runevals.lib.statistics.chance import beta_weights
from runevals.lib.statistics.proportion import share_of_a_group
from runevals.lib.text.numbers import phrase, plural, short_list
from runevals.records import RunReport, State
from runevals.records.report import is_critical
from runevals.run.power.simulate import CaseOdds, Plan, Rates, Simulated
from runevals.suites.quarantine import MOST as MOST_LISTED
from runevals.verdict.parts import PART_MIN_CASES

POWER = 0.9
SIZES = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
WORK = 6_000  # cases that are simulated for each question
FEWEST, MOST = 100, 300  # simulated changes of a question
SAME_RATES = 10  # of them have the same pass rates
MORE = 2  # times as many are simulated of what is printed
FLAKY = 0.2, 0.8  # pass rates between which a case is proposed for quarantine

Change = Callable[[Rates, float, random.Random], Rates]  # rates of the base, size → rates of the head


class Shares(Struct, frozen=True, kw_only=True):
    """What simulated changes of one kind end in."""

    worse: float
    not_known: float
    improved: float
    head_runs: float  # a case
    base_runs: float
    points: float  # by which the mean pass rate of the changed cases falls; a gain is negative
    by_rates: Sequence[Shares] = ()  # those of the same pass rates, of which this is the mean

    def in_words(self, end: str) -> str:
        """The share of an end, with its 90 % interval: the runs do not determine the pass rates."""
        low, high = share_of_a_group([getattr(each, end) for each in self.by_rates], SAME_RATES)
        return f"{_percent(getattr(self, end))}, probably {_percent(low)} to {_percent(high)}"


class Detectable(Struct, frozen=True, kw_only=True):
    """The smallest change of a kind that is seen nine times in ten; `size` None: not even the largest is."""

    what: str
    end: str  # in which it is seen
    size: float | None
    shares: Shares  # at that size, or the largest


class Repair(Struct, frozen=True, kw_only=True):
    """A change of the suite or settings that makes a smaller loss of the whole visible."""

    what: str
    power: float  # at the next smaller loss
    runs: float  # of one verdict on an unchanged suite, of both sides


class Prediction(Struct, frozen=True, kw_only=True):
    """What the verdict would say on this suite."""

    cases: int
    runs: int  # that were measured
    simulated: int  # changes of each kind
    unchanged: Shares
    detectable: Sequence[Detectable]
    repairs: Sequence[Repair]
    dead: Sequence[str]  # cases that never passed: they cannot show a loss
    flaky: Sequence[str]
    for_quarantine: Sequence[str]  # of these, as many as its list may have


def of_case(rates: Rates, size: float, rng: random.Random) -> Rates:
    """One case that mostly passes loses so much of its pass rate."""
    places = [place for place, rate in enumerate(rates) if rate >= 0.5] or range(len(rates))
    return _lowered(rates, size, [rng.choice(places)])


def of_all(rates: Rates, size: float, _rng: random.Random) -> Rates:
    """Every case loses so much of its pass rate."""
    return _lowered(rates, size, range(len(rates)))


def of_some(places: Sequence[Sequence[int]]) -> Change:
    """One of these parts does."""
    return lambda rates, size, rng: _lowered(rates, size, rng.choice(places))


def gain_of_all(rates: Rates, size: float, _rng: random.Random) -> Rates:
    """Every case fails so much less often."""
    return [rate + (1 - rate) * size for rate in rates]


def _lowered(rates: Rates, size: float, places: Sequence[int]) -> Rates:
    changed = frozenset(places)
    return [rate * (1 - size) if place in changed else rate for place, rate in enumerate(rates)]


class Suite(Struct, frozen=True, kw_only=True):
    """Cases with their runs, how they are compared, and how probable their pass rates are."""

    plan: Plan
    odds: Sequence[CaseOdds]
    simulations: int  # of each kind of change
    tell: Callable[[str], object] = str  # what is simulated now
    seed: int = 20261127

    @property
    def parts(self) -> list[Sequence[int]]:
        """The categories that the verdict tests."""
        categories = grouped((one.case.category, place) for place, one in enumerate(self.odds))
        return [
            places
            for name, places in categories.items()
            if name and PART_MIN_CASES <= len(places) < len(self.odds)
        ]

    def shares(self, change: Change, size: float, number: int | None = None) -> Shares:
        """What so many simulated changes end in, ten of each pass rates that the measured runs make probable."""
        rng = random.Random(self.seed)  # noqa: S311 - no secret
        weights = beta_weights(Counter((one.passes, one.runs) for one in self.odds))
        shapes = rng.choices(
            [shape for _, shape in weights],
            [weight for weight, _ in weights],
            k=(number or self.simulations) // SAME_RATES,
        )
        return pooled([self.known(change, size, self._rates(shape, rng), SAME_RATES, rng) for shape in shapes])

    def known(self, change: Change, size: float, rates: Rates, number: int, rng: random.Random) -> Shares:
        """What so many end in at these pass rates."""
        return pooled([self._one(change, size, rates, rng) for _ in range(number)])

    def _rates(self, shape: tuple[float, float], rng: random.Random) -> Rates:
        a, b = shape
        return [rng.betavariate(a + one.passes, b + one.runs - one.passes) for one in self.odds]

    def _one(self, change: Change, size: float, rates: Rates, rng: random.Random) -> Shares:
        head = change(rates, size, rng)
        simulated = Simulated(self.plan, self.odds, rates, head, rng)
        comparison = simulated.decided()
        falls = [before - now for before, now in zip(rates, head, strict=True) if before != now]
        cases = len(self.odds)
        return Shares(
            worse=float(comparison.state is State.WORSE),
            not_known=float(comparison.state is State.NOT_KNOWN),
            improved=float(comparison.improved),
            head_runs=simulated.runs["head"] / cases,
            base_runs=simulated.runs["base"] / cases,
            points=fmean(falls) if falls else 0.0,
        )

    def smallest(self, what: str, change: Change, end: str = "worse") -> Detectable:
        """The smallest size that is seen nine times in ten, by halving; of that size more are simulated."""
        self.tell(f"Simulating losses of {what}" if end == "worse" else f"Simulating gains of {what}")
        place = bisect_left(SIZES, POWER, key=lambda size: getattr(self.shares(change, size), end))
        size = SIZES[place] if place < len(SIZES) else None
        shares = self.shares(change, size or SIZES[-1], MORE * self.simulations)
        return Detectable(what=what, end=end, size=size, shares=shares)

    @property
    def flaky(self) -> list[CaseOdds]:
        """The cases that pass about half of their runs, the most uncertain first."""
        some = [one for one in self.odds if one.runs > 2 and FLAKY[0] <= one.passes / one.runs <= FLAKY[1]]
        return sorted(some, key=lambda one: abs(one.passes / one.runs - 0.5))

    @property
    def for_quarantine(self) -> list[CaseOdds]:
        """Flaky cases that may be on its list, at most a tenth of each suite."""
        sizes = Counter(one.case.suite for one in self.odds)
        flaky = grouped((one.case.suite, one) for one in self.flaky if not is_critical(one.case))
        return [one for suite, size in sizes.items() for one in flaky.get(suite, [])[: int(MOST_LISTED * size)]]


def pooled(ends: Sequence[Shares]) -> Shares:
    """The means."""
    names = Shares.__struct_fields__[:-1]
    return Shares(**{name: fmean(getattr(each, name) for each in ends) for name in names}, by_rates=ends)


def suite_of(report: RunReport, plan: Plan, tell: Callable[[str], object] = str) -> Suite:
    """The cases of which a run was measured."""
    odds = [*filter(None, map(CaseOdds.of, report.cases))]
    return Suite(plan=plan, odds=odds, simulations=max(FEWEST, min(MOST, WORK // max(1, len(odds)))), tell=tell)


def predicted(suite: Suite) -> Prediction:
    """Everything that is said of the suite."""
    whole = suite.smallest("every case", of_all)
    detectable = [
        suite.smallest("one case", of_case),
        *([suite.smallest("a category", of_some(suite.parts))] if suite.parts else []),
        whole,
    ]
    return Prediction(
        cases=len(suite.odds),
        runs=sum(one.runs for one in suite.odds),
        simulated=MORE * suite.simulations,
        unchanged=suite.shares(of_all, 0.0, MORE * suite.simulations),
        detectable=(*detectable, suite.smallest("every case", gain_of_all, "improved")),
        repairs=sorted(_repairs(suite, whole), key=lambda repair: repair.runs),
        dead=[one.case.key for one in suite.odds if not one.passes],
        flaky=[one.case.key for one in suite.flaky],
        for_quarantine=[one.case.key for one in suite.for_quarantine],
    )


def _repairs(suite: Suite, whole: Detectable) -> Iterator[Repair]:
    """What shows the next smaller loss of the whole nine times in ten, and what a verdict then costs."""
    place = len(SIZES) if whole.size is None else SIZES.index(whole.size)
    if not place:
        return
    size, out, plan = SIZES[place - 1], suite.for_quarantine, suite.plan
    more = replace(plan, repeat=2 * plan.repeat, base_looks=2 * plan.base_looks)
    others = [
        replace(one, case=replace(one.case, key=f"{one.case.key}+", fingerprint=f"{one.case.fingerprint}+"))
        for one in suite.odds
    ]
    names, twice = [one.case.key for one in out], [*suite.odds, *others]
    rest = [*filterfalse(out.count, suite.odds)]
    options = {
        f"repeat: {more.repeat} and verify_repeats: {more.base_looks}": replace(suite, plan=more),
        f"quarantine {plural(len(out), 'case')}: {short_list(names)}": replace(suite, odds=rest),
        f"twice as many cases ({len(twice)}), by splitting those of several checks": replace(suite, odds=twice),
    }
    suite.tell("Simulating what shows smaller losses")
    for what, other in options.items():
        power = 0.0 if other == suite else other.shares(of_all, size).worse
        if power >= POWER:
            cost = other.shares(of_all, 0.0, min(FEWEST, suite.simulations))
            yield Repair(what=what, power=power, runs=len(other.odds) * (cost.head_runs + cost.base_runs))


def described(prediction: Prediction) -> Iterator[tuple[str, str]]:
    """(name, sentence), for a reader at a terminal."""
    same, cases = prediction.unchanged, prediction.cases
    source = f"{prediction.simulated} simulated, from {plural(prediction.runs, 'measured run')}"
    ends = f"fails {same.in_words('worse')}, and is not known {_percent(same.not_known)} of the time"
    runs = f"{cases * same.head_runs:.0f} runs, and {cases * same.base_runs:.0f} of the base"
    yield "a/a", f"an unchanged change of these {plural(cases, 'case')} {ends}, and takes {runs} ({source})"
    for detectable in prediction.detectable:
        yield "power", _of_change(detectable)
    if prediction.dead:
        dead = short_list(prediction.dead)
        yield "cases", f"never passed, so that no loss of them shows: {dead}; fix or drop them"
    if prediction.flaky:
        flaky, out = short_list(prediction.flaky), prediction.for_quarantine
        others = phrase(short_list(out), f", or quarantine {plural(len(out), 'case')}: {{}}")
        yield "cases", f"between a fifth and four fifths of their runs pass: {flaky}; split or fix them{others}"
    if prediction.repairs:
        best = prediction.repairs[0]
        yield "repair", f"the cheapest way to see smaller losses: {best.what} ({best.runs:.0f} runs a verdict)"


def _of_change(detectable: Detectable) -> str:
    shares, end = detectable.shares, detectable.end
    verb = "gains" if shares.points < 0 else "loses"
    change = f"{detectable.what} that {verb} {abs(100 * shares.points):.0f} points"
    called = f"(called {end}: {shares.in_words(end)})"
    if detectable.size is None:
        return f"not seen nine times in ten: {change}, the most there is {called}"
    return f"the smallest change that is seen nine times in ten: {change} {called}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
