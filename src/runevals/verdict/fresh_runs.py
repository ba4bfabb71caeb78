"""Suspects run again, on both sides in turn, until each is settled or nothing more may be run."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from runevals.records import AttemptReport, CaseReport, Outcome, RegressionRule, Suspect, SuspectState
from runevals.verdict import suspects as singles
from runevals.verdict.cached_runs import from_cache
from runevals.verdict.compare import FreshRuns
from runevals.verdict.matching import Key, Pair
from runevals.verdict.suspects import SuspectRuns, is_critical

RETRIES = 2  # of a fresh run that errored
AGREEING_HEAD, AGREEING_BASE = 2, 1  # runs in which a deterministic target must repeat itself
TOO_MANY = "more cases look lost than may be run again"
LEAST_BUDGET = 96  # fresh runs in all: this, or one a case if that is more

RunSide = Literal["base", "head", "old form"]  # old form: the head's target on the base's cases


class CaseRunner(Protocol):
    """Runs single cases again. Cached answers do not count as fresh runs."""

    @property
    def why_no_base(self) -> str:
        """Why the base cannot be run; empty if it can."""

    @property
    def base_lacks(self) -> str:
        """The files that the base's checkout lacks, which its programs name; empty if none is known."""

    @property
    def trouble(self) -> str:
        """Why a requested fresh run could not be made; empty if none failed."""

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        """One fresh run of each of these cases, without those that could not be made."""

    def checking(self, cases: Sequence[Key]) -> Sequence[Key]:
        """Called before cases are run again. Returns those that a resumed run chose before, else `cases`."""


class SingleCases(Struct):
    """The suspects of one run, over all of its rounds."""

    runner: CaseRunner
    rule: RegressionRule
    lost_before: Sequence[Suspect] = ()  # confirmed in an earlier attempt at the same commit: they stay lost
    of_commit: bool = True  # the base's result is of its commit, not of edits beside it
    used: int = 0
    promise_broken: bool = False
    _trialled: dict[Key, SuspectRuns] = {}
    _left_out: dict[Key, Suspect] = {}

    def result(self) -> FreshRuns:
        """The suspects so far, the critical cases first."""
        tested = [singles.recorded(one) for one in self._trialled.values()]
        ended = [*self.lost_before, *tested, *self._left_out.values()]
        ended.sort(key=lambda suspect: not suspect.critical)
        return FreshRuns(tuple(ended), self.promise_broken)

    @property
    def base_differs(self) -> bool:
        """Whether the base of targets called deterministic fails a case now that it passed."""
        failing = (
            run.status is Outcome.FAILED for one in self._trialled.values() if not one.stored for run in one.base
        )
        return self.promise_broken and any(failing)

    def doubt(self) -> str:
        """Why other answers of the base's commit excuse no loss; empty if they do."""
        if not self.of_commit:
            return singles.IN_NO_COMMIT
        lacks = self.runner.base_lacks
        other = "the base gives other answers now, and its checkout"
        return f"{other} lacks {lacks}, which git ignores (`share` links it)" if lacks else ""

    def test(self, pairs: Sequence[Pair], *, critical_only: bool = False, deterministic: bool = False) -> None:
        """Runs the cases that look lost again: the first few, and while none is confirmed, the next few.

        No case is tested twice. Of a `deterministic` target one stored run is as good as several.
        """
        looking = self._unknown(singles.candidates(pairs))
        looking = [pair for pair in looking if is_critical(pair) or not critical_only]
        erring = [] if critical_only else self._unknown(singles.only_errors(pairs, self.rule))
        self._forget({pair.key for pair in pairs} - {pair.key for pair in (*looking, *erring)})
        while batch := self._entered(self._next_few(looking, pairs)):
            for suspect in batch:
                suspect.one_run_suffices = deterministic
            self._settle(batch, len(pairs))
            if any(suspect.state == "confirmed" for suspect in batch):
                break
        else:  # most of those that erred need two runs
            self._settle(self._entered(self._chosen(erring, pairs)), len(pairs))
        self._left_out = self._others([*looking, *erring], TOO_MANY)

    def _next_few(self, looking: Sequence[Pair], pairs: Sequence[Pair]) -> Sequence[Pair]:
        """All critical cases, and of the others as many as there are runs left for."""
        waiting = [pair for pair in looking if pair.key not in self._trialled]
        left = (self._budget(len(pairs)) - self.used) // (2 * singles.RUNS)
        admitted = singles.admitted(waiting, len(pairs))
        few = [pair for pair in admitted if is_critical(pair)]
        few += [pair for pair in admitted if not is_critical(pair)][: max(left, 0)]
        return self._chosen(few, pairs)

    def test_edited(self, pairs: Sequence[Pair], cases: int) -> None:
        """Runs the base's form of edited cases on both sides: an edit must not hide a loss."""
        looking = self._unknown(singles.edited(pairs))
        few = self._next_few(looking, pairs) if looking and not self.runner.why_no_base else ()
        batch = self._entered(few)
        for suspect in batch:
            suspect.edited = True
        self._settle(batch, cases)
        changed = [pair for pair in looking if not pair.same_content]
        self._left_out |= self._others(changed, singles.NO_OLD_FORM)

    def test_promise(self, pairs: Sequence[Pair]) -> None:
        """Runs what fails now again on a deterministic target; if its answers differ, it is not deterministic."""
        unknown = [pair for pair in pairs if singles.fails_after_errors(pair)]
        looking = [*(pair for pair in pairs if pair.regressed), *unknown]
        batch = self._entered(self._chosen(singles.admitted(looking, len(pairs)), looking))
        for _ in range(AGREEING_HEAD):
            self._step("head", batch, len(pairs))
        for _ in range(AGREEING_BASE):
            self._step("base", batch, len(pairs))
        if any(_disagrees(suspect) for suspect in batch):
            self.promise_broken = True
            self._settle(batch, len(pairs))
            return
        for suspect in [one for one in batch if one.state is None]:
            suspect.state, suspect.reason = self._by_promise(suspect)
        self._left_out |= self._others(unknown, TOO_MANY)

    def _by_promise(self, suspect: SuspectRuns) -> tuple[SuspectState, str]:
        """The ending of a suspect on a deterministic target, whose fresh runs agree with the scored ones."""
        fails = [attempt.status for attempt in suspect.head] == [Outcome.FAILED] * AGREEING_HEAD
        unknown = singles.unknown_on_base(suspect.pair)
        before = {attempt.status for attempt in suspect.base} if unknown else {Outcome.PASSED}
        if fails and before == {Outcome.PASSED}:
            return "confirmed", ""
        if fails and before == {Outcome.FAILED}:
            return "dropped", ""
        if fails and unknown and (before == {Outcome.ERRORED} or self.runner.why_no_base):
            suspect.stored = True  # its errors on the base are no fresh runs
            return singles.ending_of_unknown(suspect.pair, self.rule)
        return "open", "it could not be run again"

    def _chosen(self, cases: Sequence[Pair], pairs: Sequence[Pair]) -> Sequence[Pair]:
        """The cases to run again: a resumed run chooses those it chose before."""
        if not cases:
            return ()
        by_key = {pair.key: pair for pair in pairs}
        known = self.runner.checking([pair.key for pair in cases])
        return [by_key[key] for key in known if key in by_key]

    def _forget(self, fine: Container[Key]) -> None:
        """An open suspect that does not look lost any more, after more rounds, is cleared."""
        for key, suspect in self._trialled.items():
            if suspect.state == "open" and key in fine and not suspect.edited:
                suspect.state, suspect.reason = "cleared", ""

    def _entered(self, chosen: Sequence[Pair]) -> list[SuspectRuns]:
        """New suspects."""
        stored = bool(chosen) and bool(self.runner.why_no_base)
        batch = [
            SuspectRuns(pair=pair, base=_measured(pair.base) if stored else [], stored=stored)
            for pair in chosen
            if pair.key not in self._trialled
        ]
        self._trialled.update({suspect.pair.key: suspect for suspect in batch})
        return batch

    def _unknown(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Those that an earlier attempt has not confirmed."""
        known = {(suspect.suite, suspect.key) for suspect in self.lost_before}
        return [pair for pair in pairs if pair.key not in known]

    def _others(self, looking: Sequence[Pair], reason: str) -> dict[Key, Suspect]:
        """Those that were not run again."""
        return {pair.key: singles.unrun(pair, reason) for pair in looking if pair.key not in self._trialled}

    def _settle(self, batch: Sequence[SuspectRuns], cases: int) -> None:
        """Runs them until each is settled, or nothing more may be run."""
        if batch:
            self._run(batch, cases)
            singles.settle(batch, cases, self.rule, self.doubt)

    def _run(self, batch: Sequence[SuspectRuns], cases: int) -> None:
        """The head first, to drop what passes after all; then base and head in turn."""
        for screened in range(1, singles.SCREEN + 1):
            self._step("head", [suspect for suspect in batch if len(suspect.head) < screened], cases)
            singles.drop_hopeless(batch, cases, self.rule)
        singles.leave_erring_open(batch)
        while running := [suspect for suspect in batch if not suspect.decided]:
            runs = self._step("base", running, cases)
            singles.settle_half_way(batch, self.rule)
            runs += self._step("head", running, cases)
            if not runs and not self._without_base(running):
                for suspect in running:
                    suspect.reason = suspect.reason or self.runner.trouble
                return  # nothing more can be run: what is not settled stays open
            singles.drop_hopeless(batch, cases, self.rule)

    def _step(self, side: RunSide, suspects: Sequence[SuspectRuns], cases: int) -> int:
        """One more run on this side of each suspect that lacks one → how many arrived. Errors are retried."""
        wanting = {suspect.pair.key: suspect for suspect in suspects if _wants(side, suspect)}
        if not wanting or self._beyond_budget(list(wanting.values()), cases):
            return 0
        attempts: dict[Key, AttemptReport] = {}
        missing = list(wanting)
        for _ in range(1 + RETRIES):
            if missing:
                self.used += len(missing)
                got: dict[Key, AttemptReport] = {}
                for edited in (False, True):
                    some = [wanting[key].pair for key in missing if wanting[key].edited is edited]
                    of_side: RunSide = "old form" if edited and side == "head" else side
                    got |= self.runner.again(of_side, some) if some else {}
                attempts.update(got)
                missing = [key for key in got if got[key].status is Outcome.ERRORED]
        for key, attempt in attempts.items():
            _leave_open_if_cached(wanting[key], attempt)
            (wanting[key].head if side == "head" else wanting[key].base).append(attempt)
        return len(attempts)

    def _without_base(self, suspects: Sequence[SuspectRuns]) -> bool:
        """If the base cannot be run: from here on only its stored runs count."""
        waiting = [suspect for suspect in suspects if not suspect.stored]
        if not self.runner.why_no_base or not waiting:
            return False
        for suspect in waiting:
            suspect.stored, suspect.base = True, _measured(suspect.pair.base)
        return True

    def _budget(self, cases: int) -> int:
        limit = self.rule.max_fresh_runs
        return max(LEAST_BUDGET, cases) if limit is None else limit

    def _beyond_budget(self, suspects: Sequence[SuspectRuns], cases: int) -> bool:
        if self.used + len(suspects) <= self._budget(cases):
            return False
        for suspect in suspects:
            suspect.reason = "more fresh runs would be needed than may be made"
        return True


def _leave_open_if_cached(suspect: SuspectRuns, attempt: AttemptReport) -> None:
    """An answer repeated by an HTTP cache is not a fresh run, and neither are the next ones."""
    known = (*suspect.pair.base.attempts, *suspect.pair.head.attempts, *suspect.base, *suspect.head)
    evidence = from_cache(attempt, known)
    if evidence:
        suspect.state, suspect.reason = "open", f"a cache on the way answers its fresh runs ({evidence})"


def _measured(case: CaseReport) -> list[AttemptReport]:
    return [attempt for attempt in case.runs if attempt.status.measured]


def _wants(side: RunSide, suspect: SuspectRuns) -> bool:
    if suspect.state is not None:
        return False
    if side == "head":
        half_way = not suspect.stored and len(suspect.base) < singles.RUNS
        return len(suspect.head) < (singles.RUNS if half_way else singles.MORE_RUNS)
    return not suspect.stored and len(suspect.base) < singles.MORE_RUNS


def _disagrees(suspect: SuspectRuns) -> bool:
    """Whether a fresh run differs from the scored one."""
    head = any(attempt.status is Outcome.PASSED for attempt in suspect.head)
    known = not suspect.stored and not singles.unknown_on_base(suspect.pair)
    return head or (known and any(a.status is Outcome.FAILED for a in suspect.base))
