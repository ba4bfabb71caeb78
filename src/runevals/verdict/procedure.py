"""How a change is held against its base: rounds, a second look before a failure, fresh runs of single cases.

Everything that runs is asked of a Runner, so that one procedure decides over real targets and over simulated ones
of known truth (`benchmarks/verdict_sim.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from runevals.records import Comparison, ComparisonVerdict, RegressionRule, RunReport, Suspect, Verification
from runevals.verdict.comparability import stale
from runevals.verdict.compare import FreshRuns, Sides, compare
from runevals.verdict.families import Place
from runevals.verdict.fresh_runs import CaseRunner, SingleCases
from runevals.verdict.matching import Key, Pair
from runevals.verdict.regression import MIN_SHARED, Strictness, settled_early
from runevals.verdict.suspects import is_critical
from runevals.verdict.verification import (
    FreshLook,
    SecondLook,
    TwoLooks,
    base_moved,
    confirmed,
    lost_places,
    not_confirmed,
    pairs_in,
    second_look,
    unverified,
)


class Runner(CaseRunner, Protocol):
    """What can be run for a verdict."""

    @property
    def planned(self) -> int:
        """Rounds of the head at most."""

    @property
    def all_rounds(self) -> bool:
        """Whether all are made: the result will be a base."""

    @property
    def can_run(self) -> bool:
        """Whether a case can be run again at all: recorded answers cannot."""

    @property
    def why_no_second_look(self) -> str:
        """Why a failure is not verified; empty where it is."""

    @property
    def lost_before(self) -> Sequence[Suspect]:
        """The cases that an earlier attempt at the same commit confirmed as lost: to try again is no new draw."""

    def next_round(self) -> RunReport:
        """One more round of the head, or all where all are made; the report of all rounds so far."""

    def finish(self, cases: Sequence[Pair]) -> RunReport:
        """The rest of the rounds of these cases alone; the report of all rounds so far."""

    def look_again(self, only: Sequence[Pair] | None, why: str) -> FreshLook | str:
        """Fresh runs of both sides in turn, of all cases or of these; a text says why there are none.

        `why` is what whoever waits is told.
        """


def held_against(
    runner: Runner, base: RunReport, source: str, rule: RegressionRule, *, fresh: bool = False
) -> tuple[RunReport, Comparison]:
    """(the head's scored runs, what they say against `base`). With `fresh`, the base was measured just now.

    In each round: the whole and its parts, whose loss is looked at again and, once confirmed, ends the run; else
    the cases that look lost are run again, and a confirmed one ends it. A run that was stopped ends at once.
    """
    held = _Held(runner, base, source, rule, verifies=not fresh and not runner.why_no_second_look)
    held.why_unverified = "" if fresh else runner.why_no_second_look
    for done in (runner.planned,) if runner.all_rounds else range(1, runner.planned + 1):
        held.head = runner.next_round()
        found = held.compared() if held.head.run.stopped is not None else held.after_round(done)
        if found is not None:
            return held.head, found  # by now with the runs that critical cases made besides the rounds
    raise AssertionError("the last round always ends it")


@dataclass(slots=True)
class _Held:
    """A change held against its base, as far as it has come."""

    runner: Runner
    base: RunReport
    source: str
    rule: RegressionRule
    verifies: bool
    why_unverified: str = ""
    moved: str = ""  # how far the stored base had moved, where a fresh one took its place
    head: RunReport = field(init=False)
    singles: SingleCases = field(init=False)
    look: FreshLook | None = None
    _looked_at: frozenset[Key] | None = frozenset()  # the cases of `look`; None: all

    def __post_init__(self) -> None:
        self.singles = SingleCases(self.runner, self.rule, self.runner.lost_before)

    def compared(self, strictness: Strictness = Strictness.FINAL) -> Comparison:
        """By what is known now."""
        found = compare(self.head, self.base, self.source, strictness, self.rule, self._fresh())
        if not self.moved:
            return found
        return replace(found, verification=Verification(state="moved", reason=self.moved))

    def _fresh(self) -> FreshRuns | None:
        return self.singles.found() if self.runner.can_run else None

    def after_round(self, done: int) -> Comparison | None:
        """The comparison that ends the run; None for another round."""
        screened = self.compared(Strictness.SCREENING if self.verifies else Strictness.FINAL)
        lost = () if screened.deterministic else lost_places(screened)
        seen = self._second_look(lost) if lost and self.verifies else None
        if self.moved and seen is not None and not seen.confirmed:
            lost = lost_places(self.compared(Strictness.SCREENING))
            seen = self._second_look(lost) if lost else None
        if lost and not self.verifies:
            lost = lost_places(self.compared())  # the exact p decides
        surely = bool(lost) and (not self.verifies or (seen is not None and seen.confirmed))
        if not surely and not self._may_end(done, lost):
            return None  # single cases that look lost by now may pass in the next round
        self._test_single_cases(screened, critical_only=surely)
        return self._ending(done, lost if surely or self.verifies else (), seen)

    def _may_end(self, done: int, lost: Collection[Place]) -> bool:
        """Whether no further round is to be made; critical cases then make the rest of theirs all the same."""
        if done >= self.runner.planned:
            return True
        if lost or not settled_early(self.compared()):
            return False
        critical = [pair for pair in Sides.of(self.head, self.base).pairs if is_critical(pair)]
        if critical:
            self.head = self.runner.finish(critical)
        return True

    def _second_look(self, lost: Collection[Place]) -> SecondLook | None:
        """What fresh runs of both sides say; None where there are none, and a loss stands on the exact p."""
        wanted = pairs_in(Sides.of(self.head, self.base).asked, lost)
        known = self._known(wanted)
        look = self._looked_again(wanted) if known is None else known
        seen = look if isinstance(look, str) else second_look(self.head, look, lost, self.rule)
        if isinstance(seen, str):
            self.verifies, self.why_unverified = False, seen
            return None
        return seen

    def _looked_again(self, wanted: Sequence[Pair] | None) -> FreshLook | str:
        look = self.runner.look_again(wanted, "a regression, it seems")
        if isinstance(look, str):
            return look
        moved = base_moved(self.base, look) if wanted is None else ""
        if moved:
            self._move_to(look, moved)
        self._take(look, wanted)
        return look

    def _take(self, look: FreshLook, wanted: Sequence[Pair] | None) -> None:
        """Fresh runs of these cases, None: of all, serve from here on."""
        self.look = look
        self._looked_at = None if wanted is None else frozenset(pair.key for pair in wanted)

    def _move_to(self, look: FreshLook, moved: str) -> None:
        """From here on, the fresh base is the base."""
        self.moved, self.base, self.source = moved, look.base, look.source

    def _known(self, wanted: Sequence[Pair] | None) -> FreshLook | None:
        """The fresh runs that there are, if they are of all these cases."""
        known = self._looked_at
        covers = known is None or (wanted is not None and known.issuperset(pair.key for pair in wanted))
        return self.look if covers else None

    def _test_single_cases(self, screened: Comparison, *, critical_only: bool) -> None:
        if not self.runner.can_run:
            return
        sides = Sides.of(self.head, self.base)
        pairs = sides.pairs
        if screened.deterministic:
            newly_failing = [pair for pair in pairs if pair.regressed]
            if newly_failing:
                self.singles.test_promise(newly_failing, len(pairs))
        else:
            self.singles.test(pairs, critical_only=critical_only)
        few_edited = len(sides.same) >= MIN_SHARED * len(self.base.cases)  # else all of it is run again
        if few_edited and not critical_only:
            self.singles.test_edited(sides.matched.both, len(pairs))

    def _ending(self, done: int, lost: Collection[Place], seen: SecondLook | None) -> Comparison | None:
        """The last word, if this round has it."""
        found = self.compared()
        last = done >= self.runner.planned
        if lost and (seen is None or seen.confirmed):
            return self._lost(found, seen)
        if found.verdict is ComparisonVerdict.REGRESSION and any(s.state == "confirmed" for s in found.suspects):
            return found
        if last and seen is not None and self.look is not None:
            return not_confirmed(found, self._looked(self.look, seen))
        if last or (not lost and settled_early(found)):
            return self._against_fresh_base(done) or found
        return None

    def _against_fresh_base(self, done: int) -> Comparison | None:
        """A base that may have changed since it was stored is measured afresh before anything passes, too.

        None where there is no reason to, or it cannot be done. Then the run may go on with another round.
        """
        reasons = list(stale(self.head, self.base, self.rule)) if self.verifies and self.look is None else []
        look = self.runner.look_again(None, reasons[0]) if reasons else ""
        if isinstance(look, str):
            return None
        self._take(look, None)
        self._move_to(look, base_moved(self.base, look))
        return self.after_round(done)

    def _lost(self, found: Comparison, seen: SecondLook | None) -> Comparison:
        """A loss of the whole or of a part that blocks."""
        found = replace(found, verdict=ComparisonVerdict.REGRESSION, why="", inconclusive_by=None)
        if seen is None or self.look is None:
            reasons = list(stale(self.head, self.base, self.rule))
            return unverified(found, self.why_unverified, reasons) if self.why_unverified else found
        return confirmed(found, self._looked(self.look, seen))

    def _looked(self, look: FreshLook, seen: SecondLook) -> TwoLooks:
        return TwoLooks(head=self.head, base=self.base, look=look, seen=seen, rule=self.rule, moved=self.moved)
