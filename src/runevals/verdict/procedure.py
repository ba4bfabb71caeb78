"""How a change is compared with its base: rounds, verification of a failure, fresh runs of single cases.

A Runner makes all runs, so that the same procedure decides over real targets and over simulated ones of known
truth (`benchmarks/verdict_sim.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec.structs import replace

from runevals.records import Comparison, ComparisonVerdict, RegressionRule, RunReport, Suspect, Verification
from runevals.verdict.comparability import both_deterministic, stale, varies_by_judge
from runevals.verdict.compare import FreshRuns, Sides, compare
from runevals.verdict.families import Place
from runevals.verdict.fresh_runs import CaseRunner, SingleCases
from runevals.verdict.matching import Key, Pair
from runevals.verdict.regression import Strictness, few_edited, settled_early
from runevals.verdict.suspects import IN_NO_COMMIT, is_critical
from runevals.verdict.verification import (
    FreshLook,
    SecondLook,
    TwoLooks,
    base_moved,
    confirmed,
    fell,
    lost_places,
    not_confirmed,
    of_same_code,
    pairs_in,
    second_look,
    unverified,
)


class Runner(CaseRunner, Protocol):
    """Makes the runs that a verdict needs."""

    @property
    def planned(self) -> int:
        """Rounds of the head at most."""

    @property
    def all_rounds(self) -> bool:
        """Whether all are made: the result will be a base."""

    @property
    def of_branch(self) -> bool:
        """Whether the run is of a branch, as on a schedule: what the same code lost since is a loss, by drift."""

    @property
    def can_run(self) -> bool:
        """Whether a case can be run again at all: recorded answers cannot."""

    @property
    def why_no_second_look(self) -> str:
        """Why a failure is not verified; empty if it is."""

    @property
    def lost_before(self) -> Sequence[Suspect]:
        """The cases that an earlier attempt at the same commit confirmed as lost: they stay lost."""

    def next_round(self) -> RunReport:
        """One more round of the head, or all of them if `all_rounds`; the report of all rounds so far."""

    def finish(self, cases: Sequence[Pair]) -> RunReport:
        """The rest of the rounds of these cases alone; the report of all rounds so far."""

    def look_again(self, only: Sequence[Pair] | None, why: str) -> FreshLook | str:
        """Fresh runs of both sides in turn, of all cases or of these; a text says why there are none.

        `why` is the reason shown on screen.
        """


def compare_in_rounds(
    runner: Runner, base: RunReport, source: str, rule: RegressionRule, *, fresh: bool = False
) -> tuple[RunReport, Comparison]:
    """(the head's scored runs, their comparison with `base`). With `fresh`, the base was measured just now.

    In each round: the whole and its parts, whose loss is looked at again and, once confirmed, ends the run; else
    the cases that look lost are run again, and a confirmed one ends it. A run that was stopped ends at once.
    """
    state = _RoundState(runner, base, source, rule, verifies=not fresh and not runner.why_no_second_look)
    state.why_unverified = "" if fresh else runner.why_no_second_look
    for done in (runner.planned,) if runner.all_rounds else range(1, runner.planned + 1):
        state.head, state.rounds = runner.next_round(), done
        comparison = state.compared() if state.head.run.stopped is not None else state.after_round(done)
        if comparison is not None:
            return state.head, comparison  # by now with the runs that critical cases made besides the rounds
    raise AssertionError("the last round always ends it")


@dataclass(slots=True)
class _RoundState:
    """The state of a comparison in rounds."""

    runner: Runner
    base: RunReport
    source: str
    rule: RegressionRule
    verifies: bool
    rounds: int = 0  # of all cases; critical ones may have made more
    why_unverified: str = ""
    doubt: str = ""  # what the base's checkout lacks, if it is worse than its stored result
    moved: str = ""  # how far the stored base had moved, if a fresh one replaced it
    head: RunReport = field(init=False)
    singles: SingleCases = field(init=False)
    look: FreshLook | None = None
    _looked_at: frozenset[Key] | None = frozenset()  # the cases of `look`; None: all

    def __post_init__(self) -> None:
        self.singles = SingleCases(
            self.runner, self.rule, self.runner.lost_before, of_commit=self.base.run.uncommitted is None
        )

    def compared(self, strictness: Strictness = Strictness.FINAL) -> Comparison:
        """The comparison of the runs so far."""
        comparison = compare(self.head, self.base, self.source, strictness, self.rule, self._fresh())
        comparison = replace(comparison, rounds_done=self.rounds)
        if not self.moved:
            return comparison
        return replace(comparison, verification=Verification(state="moved", reason=self.moved))

    def _fresh(self) -> FreshRuns | None:
        return self.singles.result() if self.runner.can_run else None

    def after_round(self, done: int) -> Comparison | None:
        """The comparison that ends the run; None for another round."""
        if self.runner.can_run and self._broke_promise():
            self.singles.promise_broken = True
        screened = self.compared(Strictness.SCREENING if self.verifies else Strictness.FINAL)
        lost: Collection[Place] = lost_places(screened)
        look = self._second_look(lost) if lost and self.verifies else None
        if self.moved and look is not None and not look.confirmed:
            lost = lost_places(self.compared(Strictness.SCREENING))
            look = self._second_look(lost) if lost else None
        if lost and not self.verifies:
            lost = lost_places(self.compared())  # the exact p decides
        surely = bool(lost) and (not self.verifies or (look is not None and look.confirmed))
        if not surely and not self._may_end(done, lost):
            return None  # single cases that look lost by now may pass in the next round
        kept_promise = not self.singles.promise_broken
        self._test_single_cases(screened, critical_only=surely)
        if kept_promise and self.singles.promise_broken and self._is_change:
            return self.after_round(done)  # by statistics, with a second look
        return self._ending(done, lost if surely or self.verifies else (), look)

    def _broke_promise(self) -> bool:
        """Whether runs of one case differ now that always passed on the base, of targets called deterministic."""
        sides = (self.head, self.base)
        return both_deterministic(*sides) and any(
            pair.wavers and not varies_by_judge(pair) for pair in Sides.of(*sides).pairs
        )

    def _may_end(self, done: int, lost: Collection[Place]) -> bool:
        """Whether no further round is to be made; critical cases then still make their remaining rounds."""
        if done >= self.runner.planned:
            return True
        if lost or not settled_early(self.compared()):
            return False
        critical = [pair for pair in Sides.of(self.head, self.base).pairs if is_critical(pair)]
        if critical:
            self.head = self.runner.finish(critical)
        return True

    def _second_look(self, lost: Collection[Place]) -> SecondLook | None:
        """The fresh runs of both sides; None if there are none, and the exact p decides."""
        pairs = pairs_in(Sides.of(self.head, self.base).due, lost)
        stored = self._known(pairs)
        look = self._fresh_look(pairs) if stored is None else stored
        second = look if isinstance(look, str) else second_look(self.head, look, lost, self.rule)
        if isinstance(second, str):
            self.verifies, self.why_unverified = False, second
            return None
        return second

    def _fresh_look(self, pairs: Sequence[Pair] | None) -> FreshLook | str:
        look = self.runner.look_again(pairs, "a regression, it seems")
        if isinstance(look, str):
            return look
        if self._drifts:
            look = of_same_code(look, self.base, self.source)
        moved = base_moved(self.base, look)
        if moved and self.base.run.uncommitted is not None:
            return f"{IN_NO_COMMIT}, and its commit gives other answers"
        if fell(self.base, look) and (doubt := self.singles.doubt()):
            self.doubt = doubt
            return doubt
        if moved and pairs is None:
            self._move_to(look, moved)
        self._take(look, pairs)
        return look

    def _take(self, look: FreshLook, pairs: Sequence[Pair] | None) -> None:
        """Uses these fresh runs from here on; `pairs` None: they are of all cases."""
        self.look = look
        self._looked_at = None if pairs is None else frozenset(pair.key for pair in pairs)

    def _move_to(self, look: FreshLook, moved: str) -> None:
        """From here on, the fresh base is the base."""
        self.moved, self.base, self.source = moved, look.base, look.source

    def _known(self, pairs: Sequence[Pair] | None) -> FreshLook | None:
        """The fresh runs made before, if they cover all these cases."""
        known = self._looked_at
        covers = known is None or (pairs is not None and known.issuperset(pair.key for pair in pairs))
        return self.look if covers else None

    def _test_single_cases(self, screened: Comparison, *, critical_only: bool) -> None:
        if not self.runner.can_run:
            return
        sides = Sides.of(self.head, self.base)
        pairs = sides.pairs
        if screened.deterministic:
            by_judge = {pair.key for pair in pairs if varies_by_judge(pair)}
            self.singles.test(
                [pair for pair in pairs if pair.key in by_judge], critical_only=critical_only, deterministic=True
            )
            self.singles.test_promise([pair for pair in pairs if pair.key not in by_judge])
        if not screened.deterministic or self.singles.promise_broken:
            self.singles.test(pairs, critical_only=critical_only)
        if few_edited(sides.same, sides.matched):  # a loss that is accepted must not hide that of an edited case
            self.singles.test_edited(sides.matched.both, len(pairs))

    def _ending(self, done: int, lost: Collection[Place], look: SecondLook | None) -> Comparison | None:
        """The final comparison, if this round ends the run."""
        comparison = self.compared()
        last = done >= self.runner.planned
        if lost and (look is None or look.confirmed):
            return self._lost(comparison, look)
        if last and look is not None and self.look is not None:
            return not_confirmed(comparison, self._looked(self.look, look))
        if comparison.verdict is ComparisonVerdict.REGRESSION and any(
            s.state == "confirmed" for s in comparison.suspects
        ):
            return comparison
        if last or (not lost and settled_early(comparison)):
            return self._against_fresh_base(done) or self._with_doubt(comparison)
        return None

    def _with_doubt(self, comparison: Comparison) -> Comparison:
        """Inconclusive if the base is worse only where its checkout lacks files, and anything looks lost."""
        if not self.doubt or comparison.verdict in (ComparisonVerdict.REGRESSION, ComparisonVerdict.INCONCLUSIVE):
            return comparison
        looks_lost = self.singles.base_differs or lost_places(self.compared(Strictness.SCREENING))
        return unverified(comparison, self.doubt, self.doubt) if looks_lost else comparison

    def _against_fresh_base(self, done: int) -> Comparison | None:
        """A base that may have changed since it was stored is measured again, also before a run passes.

        None if there is no reason to, or it cannot be done. Then the run may go on with another round.
        """
        if not self._may_move():
            return None
        reasons = list(stale(self.head, self.base, self.rule))
        if self.singles.base_differs and self._is_change:
            reasons.append("the base answers otherwise than when it was stored")
        look = self.runner.look_again(None, reasons[0]) if reasons else ""
        if isinstance(look, str):
            return None
        if fell(self.base, look) and (doubt := self.singles.doubt()):
            self.doubt = doubt
            return None
        self._take(look, None)
        self._move_to(look, base_moved(self.base, look))
        return self.after_round(done)

    @property
    def _is_change(self) -> bool:
        """Whether head and base are of different code; of the same code, as on a schedule, a drift is the loss."""
        head, base = self.head.run, self.base.run
        return (head.commit, head.uncommitted) != (base.commit, base.uncommitted) or head.commit is None

    @property
    def _drifts(self) -> bool:
        """Whether what was lost since the stored result is a loss, although no code was changed."""
        return self.runner.of_branch and self.base.run.uncommitted is None and not self._is_change

    def _may_move(self) -> bool:
        """Whether a fresh run of the base's commit may still replace the stored result."""
        return self.verifies and self.look is None and self.base.run.uncommitted is None and not self._drifts

    def _lost(self, comparison: Comparison, look: SecondLook | None) -> Comparison:
        """A loss of the whole or of a part that blocks."""
        comparison = replace(comparison, verdict=ComparisonVerdict.REGRESSION, why="", inconclusive_by=None)
        if look is None or self.look is None:
            return self._unverified(comparison) if self.why_unverified else comparison
        return confirmed(comparison, self._looked(self.look, look))

    def _unverified(self, comparison: Comparison) -> Comparison:
        again = f"and it could not be run again ({self.why_unverified})"
        outdated = (f"{reason}, {again}" for reason in stale(self.head, self.base, self.rule))
        return unverified(comparison, self.why_unverified, self.doubt or next(outdated, ""))

    def _looked(self, look: FreshLook, second: SecondLook) -> TwoLooks:
        return TwoLooks(head=self.head, base=self.base, look=look, second=second, rule=self.rule, moved=self.moved)
