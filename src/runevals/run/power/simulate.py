"""A Runner whose target draws its answers from measured ones, by pass rates that are given."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from runevals.records import (
    AttemptReport,
    CaseReport,
    Comparison,
    Finding,
    Outcome,
    RegressionRule,
    RunInfo,
    RunReport,
    TurnReport,
)
from runevals.run.target_runner import HEAD_LOOKS
from runevals.verdict.case_runs import RunSide
from runevals.verdict.matching import Key, Pair
from runevals.verdict.score import over_attempts, over_turns, run_report
from runevals.verdict.settle import FreshRounds, settled

Rates = Sequence[float]  # of each case, the probability that a run passes


class CaseOdds(Struct, frozen=True, kw_only=True):
    """A case, and runs of it to draw from: real ones, or such with every check turned."""

    case: CaseReport
    passing: Sequence[AttemptReport]
    failing: Sequence[AttemptReport]
    passes: int
    runs: int

    @classmethod
    def of(cls, case: CaseReport) -> CaseOdds | None:
        """None for a case of which no run was measured."""
        # Drawn twice, an answer with its id would be taken for one that a cache gave again.
        of_their_own = (
            replace(run, turns=tuple(replace(turn, delivery=None) for turn in run.turns)) for run in case.runs
        )
        measured = [run for run in of_their_own if run.status.measured]
        if not measured:
            return None
        passing = [run for run in measured if run.status is Outcome.PASSED]
        failing = [run for run in measured if run.status is not Outcome.PASSED]
        return cls(
            case=case,
            passing=passing or [_turned(run, Outcome.PASSED) for run in failing],
            failing=failing or [_turned(run, Outcome.FAILED) for run in passing],
            passes=len(passing),
            runs=len(measured),
        )

    def draw(self, rate: float, rng: random.Random) -> AttemptReport:
        """One run at this pass rate."""
        return rng.choice(self.passing if rng.random() < rate else self.failing)


class Plan(Struct, frozen=True, kw_only=True):
    """How a change is compared with its base."""

    info: RunInfo
    rule: RegressionRule
    repeat: int  # rounds of the head, and runs of a stored base
    base_looks: int  # fresh rounds of the base


class Simulated:
    """Both sides of a change, of known pass rates."""

    trouble = why_no_base = why_no_rounds = base_lacks = ""
    lost_before: Sequence[Finding] = ()
    of_branch = all_rounds = False
    can_run = True

    def __init__(self, plan: Plan, odds: Sequence[CaseOdds], base: Rates, head: Rates, rng: random.Random) -> None:
        self.planned = plan.repeat
        self.runs: Counter[str] = Counter()  # runs of each side
        self._plan, self._odds, self._rng = plan, odds, rng
        self._rates: Mapping[str, Rates] = {"base": base, "head": head}
        self._places = {(one.case.suite, one.case.key): place for place, one in enumerate(odds)}
        self._scored: list[list[AttemptReport]] = [[] for _ in odds]

    def decided(self) -> Comparison:
        """The verdict on the change, with a stored base."""
        everything = range(len(self._odds))
        base = self._report(everything, [self._draw("base", place, self._plan.repeat) for place in everything])
        self.runs.clear()  # a stored base costs nothing
        return settled(self, base, "stored", self._plan.rule)[1]

    def next_round(self) -> RunReport:
        """One more run of every case."""
        for place, runs in enumerate(self._scored):
            runs.extend(self._draw("head", place, 1))
        return self._report(range(len(self._odds)), self._scored)

    def checking(self, cases: int) -> None:
        """Nothing is shown."""

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        """One fresh run of each."""
        name = "base" if side == "base" else "head"
        return {pair.key: self._draw(name, self._places[pair.key], 1)[0] for pair in cases}

    def fresh_rounds(self, only: Sequence[Pair] | None, why: str) -> FreshRounds:  # noqa: ARG002 - nothing is shown
        """Fresh runs of both sides, of these cases or all."""
        places = range(len(self._odds)) if only is None else [self._places[pair.key] for pair in only]
        looks = {"base": self._plan.base_looks, "head": HEAD_LOOKS}
        base, head = (
            self._report(places, [self._draw(side, place, number) for place in places])
            for side, number in looks.items()
        )
        return FreshRounds(base=base, head=head, source="a fresh run")

    def _draw(self, side: str, place: int, number: int) -> list[AttemptReport]:
        self.runs[side] += number
        return [self._odds[place].draw(self._rates[side][place], self._rng) for _ in range(number)]

    def _report(self, places: Sequence[int], runs: Sequence[Sequence[AttemptReport]]) -> RunReport:
        cases = [over_attempts(self._odds[place].case, some) for place, some in zip(places, runs, strict=True)]
        return run_report(self._plan.info, cases)


def _turned(run: AttemptReport, outcome: Outcome) -> AttemptReport:
    """The run with every check passed, or every check failed."""
    if not run.turns:
        return replace(run, status=outcome, composite=5.0 if outcome is Outcome.PASSED else 1.0)
    return over_turns(run.attempt, [_turned_turn(turn, outcome) for turn in run.turns])


def _turned_turn(turn: TurnReport, outcome: Outcome) -> TurnReport:
    score = float(outcome is Outcome.PASSED)
    results = [
        replace(each, outcome=outcome, score=None if each.score is None else score)
        if each.outcome.measured
        else each
        for each in turn.results
    ]
    return replace(turn, results=tuple(results))
