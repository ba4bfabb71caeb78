"""Which runs to make next so that single cases are settled, and what those runs show.

A case enters if one of its units – a check of a turn, or the case's own outcome – looks lost in the runs so far.
Those runs only choose: what is decided is decided on fresh runs of both sides, made in turn. The plan does no I/O
and depends on nothing but its entrants and their fresh values, in whatever order and from however many machines
they arrive. So a run is resumed, and shards are merged, by adding the values again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from statistics import fmean
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from runevals.lib.nullable import grouped, if_known, known
from runevals.lib.statistics.e_values import Pairs, bounds, needed

K = TypeVar("K", bound=Hashable)

Side = Literal["base", "head"]
Values = Sequence[float | None]  # of a unit, 0–1, a run each; None: could not be measured
Run = Mapping[str, float | None]  # unit → value; one that is absent could not be measured

SIDES: tuple[Side, ...] = ("base", "head")
FALL = 0.25  # of the range: a unit whose mean fell by this much looks lost
FIRST = 2  # head runs of each entrant before anything else; if it passes them it is cleared
FEWEST_BASE_RUNS = 3  # from which a base that is not in doubt is believed to fail, or to pass, always
FEWEST_PAIRS = 3  # after which a base that is not ahead clears, or a head that passes most
HOPELESS = 0.1  # evidence against a loss: with an e-value below it, a case gets no more pairs
LIKELY, STEP = 10.0, 4  # from this e-value on, a case gets several pairs in one round
PASS = 0.5  # the value from which a run counts as a pass, where both sides have only 0 and 1


class Rules(Struct, frozen=True, kw_only=True):
    """The levels and limits of the plan."""

    lost: float = 0.005  # the share of unchanged changes that may be called worse, by any single case
    together: float = 0.0025  # likewise: worse by all of them together
    unknown: float = 0.03  # likewise: not known
    most_pairs: int = 30  # of a case
    fresh_runs: int = 96  # of a side, in all
    most_pass: float = 2 / 3  # of its runs: a head that passes as many is as good, whatever the base does

    @classmethod
    def of(cls, cases: int) -> Rules:
        """The default for a run of so many cases."""
        return cls(fresh_runs=max(96, 2 * cases))


class Unit(Struct, frozen=True, kw_only=True):
    """What is known of one check, or of the outcome, before any fresh run."""

    name: str
    base: Values
    head: Values


class Entrant(Struct, Generic[K], frozen=True, kw_only=True):
    """A case of which something looks lost."""

    case: K
    cuts: Mapping[str, float]  # the units in question → the value from which a run counts as a pass
    critical: bool = False
    deterministic: bool = False
    doubtful: bool = False  # it fails on both sides: it enters only if the base passes a fresh run
    steady: bool = False  # a unit in question passed all of several runs of the base
    base_known: bool = True  # whether the side has a value of every unit in question
    head_known: bool = True


class Request(Struct, Generic[K], frozen=True, kw_only=True):
    """Runs to make, beside the others of the same round."""

    case: K
    side: Side
    runs: int


State = Literal["open", "cleared", "not shown", "died", "unknown", "lost"]


class Finding(Struct, frozen=True, kw_only=True):
    """What the fresh runs of a case show.

    `lost`: by its own runs, or as one of many that died, by those of all. `died`: it passed none of its fresh
    runs, without proof that the base is better now. `not shown`: the runs ended without evidence of a loss.
    `unknown`: the evidence is between the levels, or a value is missing.
    """

    state: State
    e_value: float  # the mean of its units, missing values best for the head
    missing: bool = False  # whether a missing value decides
    more_pairs: int | None = None  # that would show a loss if they come out as these did


def entrant(
    case: K,
    units: Sequence[Unit],
    *,
    critical: bool = False,
    deterministic: bool = False,
    doubts_base: bool = False,
) -> Entrant[K] | None:
    """The case with the units that look lost; None if none does.

    `doubts_base`: the stored runs of the base may be of a bad hour. Then one that fails on both sides may be lost,
    too; so may one that the base failed in very few runs.
    """
    looks = grouped((_looks(unit, deterministic=deterministic), unit) for unit in units)
    lost, failing = looks.get("lost", []), looks.get("fails on both", [])
    in_question = lost or [unit for unit in failing if doubts_base or len(known(unit.base)) < FEWEST_BASE_RUNS]
    if not in_question:
        return None
    return Entrant(
        case=case,
        cuts={unit.name: _cut(unit) for unit in in_question},
        critical=critical,
        deterministic=deterministic,
        doubtful=not lost,
        steady=any(_steady(unit) for unit in in_question),
        base_known=all(known(unit.base) for unit in in_question),
        head_known=all(known(unit.head) for unit in in_question),
    )


def _looks(unit: Unit, *, deterministic: bool) -> Literal["lost", "fails on both", "well"]:
    base, head = known(unit.base), known(unit.head)
    if not unit.base or not unit.head:  # it is skipped there
        return "well"
    if not base or not head:  # what never passed on the base, and what passes now, is not lost whatever is missing
        return "lost" if any(base) or any(value < 1 for value in head) else "well"
    fall = fmean(base) - fmean(head)
    if fall >= FALL - 1e-9 or (fall > 0 and (deterministic or not any(head))):
        return "lost"
    return "well" if any(base) or any(head) or deterministic else "fails on both"


def _steady(unit: Unit) -> bool:
    base = known(unit.base)
    return len(base) >= FEWEST_BASE_RUNS and min(base) >= _cut(unit)


def _cut(unit: Unit) -> float:
    """Between the sides: a fresh value at or above it is like the base's, one below like the head's."""
    base, head = known(unit.base), known(unit.head)
    return (fmean(base) + fmean(head)) / 2 if {*base, *head} - {0.0, 1.0} and base and head else PASS


class _Case(Generic[K]):
    """An entrant with its fresh runs."""

    def __init__(self, entrant: Entrant[K], rules: Rules, runs: Mapping[Side, Sequence[Run]]) -> None:
        self.entrant = entrant
        self.rules = rules
        self.runs = runs

    @cached_property
    def admitted(self) -> bool:
        """Whether it counts as an entrant."""
        return not self.entrant.doubtful or any(any(self._unit("base", name)[:1]) for name in self.entrant.cuts)

    @property
    def unasked(self) -> bool:
        """Whether only a fresh run of the base tells if it enters."""
        return self.entrant.doubtful and not self.runs["base"]

    def number(self, side: Side) -> int:
        """The number of fresh runs that count; the one that let a case enter does not."""
        return len(self.runs[side]) - (self.entrant.doubtful and side == "base")

    @cached_property
    def passes(self) -> Mapping[str, Mapping[Side, Sequence[bool | None]]]:
        """Whether each unit in question passed, run by run."""
        skip = int(self.entrant.doubtful)
        return {
            name: {"base": self._unit("base", name)[skip:], "head": self._unit("head", name)}
            for name in self.entrant.cuts
        }

    def _unit(self, side: Side, name: str) -> list[bool | None]:
        cut = self.entrant.cuts[name]
        values = (run.get(name) for run in self.runs[side])
        return [if_known(lambda known: known >= cut, value) for value in values]

    @cached_property
    def bounds(self) -> Mapping[str, tuple[Pairs, Pairs]]:
        """The pairs of each unit, missing values best and worst for the head."""
        return {name: bounds(sides["base"], sides["head"]) for name, sides in self.passes.items()}

    @cached_property
    def e_values(self) -> tuple[float, float]:
        """The evidence of the case, at best and at worst."""
        best, worst = zip(*self.bounds.values(), strict=True)
        return fmean(pairs.e_value for pairs in best), fmean(pairs.e_value for pairs in worst)

    @property
    def pairs(self) -> int:
        return min(self.number("base"), self.number("head"))

    @cached_property
    def cleared(self) -> bool:
        """Whether each unit passed the first head runs, or the pairs show that the head is as good."""
        return all(
            [*sides["head"][:FIRST]] == [True] * FIRST or _as_good(self.likely[name][1], self.rules.most_pass)
            for name, sides in self.passes.items()
        )

    @cached_property
    def differs(self) -> bool:
        """Whether a deterministic target fails in each fresh run of the head and passes on the base."""
        return self.entrant.deterministic and any(
            len(sides["head"]) >= FIRST and {*sides["head"]} == {False} and {*sides["base"]} == {True}
            for sides in self.passes.values()
        )

    @property
    def died(self) -> bool:
        """Whether a unit passed no fresh run, if it got any, and the base is not known to fail as well."""
        return any(
            True not in sides["head"]
            and (self.entrant.steady or not sides["base"] or {True, None} & {*sides["base"]})
            for sides in self.passes.values()
        )

    @property
    def unmeasured(self) -> bool:
        """Whether a unit has no value on one side: in no fresh run, or in none at all."""
        known: Mapping[Side, bool] = {"base": self.entrant.base_known, "head": self.entrant.head_known}
        return any(
            (sides[side] or not known[side]) and all(passed is None for passed in sides[side])
            for sides in self.passes.values()
            for side in SIDES
        )

    @property
    def silent(self) -> bool:
        """Whether the first runs of a side have no value at all: more would have none either."""
        return any(
            len(sides[side]) >= FIRST and all(passed is None for passed in sides[side])
            for sides in self.passes.values()
            for side in SIDES
        )

    @cached_property
    def likely(self) -> Mapping[str, tuple[Pairs, Pairs]]:
        """As `bounds`, if every run that is still without its partner gets one that shows a loss."""
        most = max(self.number("base"), self.number("head"))
        return {
            name: bounds(
                [*sides["base"], *([True] * (most - len(sides["base"])))],
                [*sides["head"], *([False] * (most - len(sides["head"])))],
            )
            for name, sides in self.passes.items()
        }

    @property
    def undecidable(self) -> bool:
        """Whether the runs are evidence against a loss."""
        worst = fmean(at_worst.e_value for _, at_worst in self.likely.values())
        return self.pairs >= FIRST and worst < HOPELESS

    def need(self, level: float) -> int:
        """How many pairs it takes at least from here until it is lost."""
        if self.entrant.deterministic and not self.pairs:
            return 1
        target = level * len(self.entrant.cuts)
        until = [at_best.pairs_until(target, at_best=True) for at_best, _ in self.likely.values()]
        fewest = min((number for number in until if number is not None), default=self.rules.most_pairs)
        waiting = max(self.number("base"), self.number("head")) - self.pairs
        return min(fewest + waiting, self.rules.most_pairs - self.pairs)

    def next_runs(self, need: int, left: Mapping[Side, int]) -> Mapping[Side, int]:
        """The next runs of each side. While little speaks for a loss, the head waits for the base to pass."""
        evidence = self.e_values[1]
        least = 1 if self.entrant.deterministic else FIRST
        pairs = max(least, self.pairs + min(need, STEP if evidence >= LIKELY else 1))
        pairs = min(pairs, *(self.number(side) + left[side] for side in SIDES))
        behind = self.number("base") <= self.number("head")
        only_base = behind and self.pairs >= FIRST and evidence < 1
        return {"base": pairs - self.number("base"), "head": 0 if only_base else pairs - self.number("head")}


def _as_good(at_worst: Pairs, most_pass: float) -> bool:
    """Whether the base is not ahead, or the head passes most of its runs."""
    least = min(at_worst.base_passes, most_pass * at_worst.pairs)
    return at_worst.pairs >= FEWEST_PAIRS and at_worst.head_passes >= least


class Plan(Generic[K]):
    """The fresh runs of all entrants, in rounds."""

    def __init__(self, entrants: Sequence[Entrant[K]], rules: Rules) -> None:
        self.rules = rules
        none: Mapping[Side, Sequence[Run]] = {"base": (), "head": ()}
        self._cases = {entrant.case: _Case(entrant, rules, none) for entrant in entrants}
        self.entered = sum(case.admitted for case in self._cases.values())  # how many share the level
        self._requests: Sequence[Request[K]] | None = None  # of the runs so far

    def add(self, case: K, side: Side, runs: Sequence[Run]) -> None:
        """Fresh runs of a case, in their order."""
        before = self._cases[case]
        all_runs = {**before.runs, side: [*before.runs[side], *runs]}
        self._cases[case] = now = _Case(before.entrant, self.rules, all_runs)
        self.entered += now.admitted - before.admitted
        self._requests = None

    def requests(self) -> Sequence[Request[K]]:
        """The runs of the next round; none if no further run can settle anything within the limits.

        First the runs that all entrants get. Then pairs for those that need the fewest to be lost, critical cases
        before the others, as long as the runs that are left may settle them.
        """
        if self._requests is None:
            used = {side: sum(len(case.runs[side]) for case in self._cases.values()) for side in SIDES}
            left = {side: self.rules.fresh_runs - used[side] for side in SIDES}
            ranked = self._ranked()
            first = [request for case in ranked for request in self._first(case)]
            self._requests = [*_within(first, left)] or [*_within([*self._pairs(ranked, left)], left)]
        return self._requests

    def findings(self) -> Mapping[K, Finding]:
        """What the runs so far show of each case that entered. A case of `requests` is open."""
        open_ = {request.case for request in self.requests()}
        return {
            key: self._finding(case, is_open=key in open_) for key, case in self._cases.items() if case.admitted
        }

    @property
    def _level(self) -> float:
        return needed(self.entered, self.rules.lost)

    @property
    def _lost_together(self) -> bool:
        """Whether the runs of all that entered prove that some are lost: a product of e-values is one."""
        evidence = prod(case.e_values[0] for case in self._cases.values() if case.admitted)
        return evidence >= needed(1, self.rules.together)

    def _ranked(self) -> Sequence[_Case[K]]:
        """The cases that may need runs, in the order in which they get them."""
        level = self._level
        active = [case for case in self._cases.values() if self._active(case, level)]
        return sorted(active, key=lambda case: (not case.entrant.critical, case.need(level)))

    def _active(self, case: _Case[K], level: float) -> bool:
        if case.unasked:
            return True
        settled = case.cleared or case.differs or case.silent or case.e_values[0] >= level or case.undecidable
        return case.admitted and not settled and case.pairs < self.rules.most_pairs

    def _first(self, case: _Case[K]) -> Iterator[Request[K]]:
        key = case.entrant.case
        if case.unasked:
            yield Request(case=key, side="base", runs=1)
        elif case.number("head") < FIRST:
            yield Request(case=key, side="head", runs=FIRST - case.number("head"))

    def _pairs(self, ranked: Sequence[_Case[K]], left: Mapping[Side, int]) -> Iterator[Request[K]]:
        level, affordable = self._level, dict(left)
        for case in ranked:
            need = case.need(level)
            runs = case.next_runs(need, affordable)
            yield from (
                Request(case=case.entrant.case, side=side, runs=number)
                for side, number in runs.items()
                if number > 0
            )
            affordable = {side: max(0, number - need) for side, number in affordable.items()}

    def _finding(self, case: _Case[K], *, is_open: bool) -> Finding:
        level = self._level
        best = case.e_values[0]
        until = [at_best.pairs_until(level * len(case.bounds)) for at_best, _ in case.bounds.values()]
        state = "open" if is_open else self._state(case, level)
        return Finding(
            state=state,
            e_value=best,
            missing=state == "unknown" and (case.unmeasured or best < needed(self.entered, self.rules.unknown)),
            more_pairs=min((number for number in until if number is not None), default=None),
        )

    def _state(self, case: _Case[K], level: float) -> State:
        best, worst = case.e_values
        with_others = case.died and best > 1 and self._lost_together
        states: Sequence[tuple[State, bool]] = (
            ("lost", case.differs or best >= level or with_others),
            ("unknown", case.unmeasured),
            ("unknown", not case.cleared and worst >= needed(self.entered, self.rules.unknown)),
            ("died", case.died),
            ("cleared", case.cleared),
        )
        return next((state for state, holds in states if holds), "not shown")


def _within(requests: Sequence[Request[K]], left: Mapping[Side, int]) -> Iterator[Request[K]]:
    """The entrants that the limit allows, in their order."""
    left = dict(left)
    for request in requests:
        if left[request.side] >= request.runs:
            left[request.side] -= request.runs
            yield request
