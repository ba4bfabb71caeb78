"""How a change is compared with its base: rounds of the head, then the fresh runs that settle what is open.

The scored runs choose where to look; what is said is said of fresh runs of both sides, made in turn. A Runner
makes all runs, so that the same procedure decides over real targets and over simulated ones of known truth
(`benchmarks/verdict_sim.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase, short_list
from runevals.records import Comparison, Finding, Outcome, Reason, RegressionRule, RunReport, State
from runevals.records.report import NO_CHECKS
from runevals.records.suite import called
from runevals.verdict.case_runs import CaseRunner, CaseRuns, ErroredRuns, doubt_of
from runevals.verdict.comparability import stale
from runevals.verdict.compare import STORED_LEVEL, compare_sides
from runevals.verdict.evidence import entrant_of
from runevals.verdict.findings import FreshEvidence, state_of
from runevals.verdict.lost_together import CLEARED
from runevals.verdict.matching import Key, Pair
from runevals.verdict.parts import WHOLE, Place, metric_test, parts_of
from runevals.verdict.reasons import MEANINGS
from runevals.verdict.score import pooled, run_report
from runevals.verdict.sides import Sides
from runevals.verdict.wording import first_error

SCREENS = (0.04, 0.05, 0.03)  # after each round of the head: the largest p of the whole or a part that goes on
GAIN_P = 0.01  # a gain of the whole from which it is looked at on fresh rounds
FELL_P = 0.005  # the fresh base is worse than the stored one
DOUBT_P = 0.3  # a gain from which the stored base may be of a bad hour: what fails on both sides is looked at


class FreshRounds(Struct, frozen=True, kw_only=True):
    """Fresh runs of both sides in turn, so that a bad hour of a provider affects both alike."""

    base: RunReport
    head: RunReport
    source: str  # names the base's runs in messages


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
    def why_no_rounds(self) -> str:
        """Why no fresh rounds are made; empty if they are."""

    @property
    def lost_before(self) -> Sequence[Finding]:
        """The cases that an earlier attempt at the same commit proved lost: they stay lost."""

    def next_round(self) -> RunReport:
        """One more round of the head, or all of them if `all_rounds`; the report of all rounds so far."""

    def fresh_rounds(self, only: Sequence[Pair] | None, why: str) -> FreshRounds | str:
        """Fresh runs of both sides in turn, of all cases or of these; a text says why there are none.

        `why` is the reason shown on screen.
        """


def settled(
    runner: Runner,
    base: RunReport,
    source: str,
    rule: RegressionRule,
    *,
    fresh: bool = False,
    acceptable: Collection[Key] = (),
) -> tuple[RunReport, Comparison]:
    """(the head's scored runs, their comparison with `base`). With `fresh`, the base was measured just now.

    `acceptable` are the losses that a reviewer may accept: each other case is decided as if there were none.
    """
    sides = _rounds(runner, base, rule)
    if sides.head.run.stopped is not None or not runner.can_run:
        return sides.head, compare_sides(sides, source, rule)
    return _Open(runner, sides, source, rule, base_is_fresh=fresh, acceptable=acceptable).settled()


def alone(runner: Runner, rule: RegressionRule) -> RunReport:
    """The head's runs without a base; of cases that erred, if they are few, fresh ones."""
    head = runner.next_round()
    if head.run.stopped is not None or not runner.can_run:
        return head
    erred = [case for case in head.cases if case.unmeasured]
    few = erred if 2 * len(erred) <= len(head.cases) else []
    return with_fresh_runs(runner, head, [Pair.of(case, case) for case in few], rule)


def with_fresh_runs(runner: Runner, head: RunReport, pairs: Iterable[Pair], rule: RegressionRule) -> RunReport:
    """The head, in which cases that erred have their fresh runs instead, unless they err more than on the base."""
    lacks = NO_CHECKS.code  # what another run lacks as well
    erred = [pair for pair in pairs if pair.head.unmeasured and lacks not in str(first_error(pair.head))]
    if not erred:
        return head
    runner.checking(len(erred))
    again = {(case.suite, case.key): case for case in ErroredRuns(runner, rule).measured(erred)}
    names = short_list([called(case.key, case.name) for case in again.values()])
    errors = [first_error(pair.head) for pair in erred if pair.key in again]
    why = names and f"{names} ({one_line(str(errors[0]))})"
    notices = filter(None, (*head.run.notices, phrase(why, "measured by fresh runs, as a run erred: {}")))
    cases = [again.get((case.suite, case.key), case) for case in head.cases]
    return run_report(replace(head.run, notices=tuple(notices)), cases, complete=head.complete)


def is_open(head: RunReport, base: RunReport, rule: RegressionRule) -> bool:
    """Whether the scored runs leave a question that fresh runs would answer."""
    sides = Sides.of(head, base)
    look = Look.at(sides, rule)
    entrants = (
        entrant_of(pair, deterministic=sides.deterministic, doubts_base=look.doubtful) for pair in sides.pairs
    )
    erred = any(pair.head.unmeasured and pair.before.runs for pair in sides.pairs)
    return look.asks or bool(sides.edited) or erred or any(each is not None for each in entrants)


def _rounds(runner: Runner, base: RunReport, rule: RegressionRule) -> Sides:
    """Rounds of the head: more than one only for a question about the whole or a part."""
    sides, done = Sides.of(runner.next_round(), base), 1
    most = 1 if runner.all_rounds else runner.planned
    while done < most and _needs_more(sides, rule, done):
        sides, done = Sides.of(runner.next_round(), base), done + 1
    return sides


def _needs_more(sides: Sides, rule: RegressionRule, done: int) -> bool:
    """Whether something looks lost after so many rounds, and another one may be made."""
    if sides.head.run.stopped is not None or sides.deterministic:
        return False
    edited = [pair for pair in sides.edited if pair.before.runs]
    return parts_of([*sides.due, *edited], rule).smallest_p <= _screen(done)


def _screen(rounds: int) -> float:
    return SCREENS[min(rounds, len(SCREENS)) - 1]


class Look(Struct, frozen=True, kw_only=True):
    """What the scored runs say of the whole and the parts: where fresh rounds are needed."""

    suspected: Sequence[Finding]  # of the places that look lost
    gains: bool  # the whole looks better
    doubtful: bool  # the base looks worse than it was: it may be of a bad hour

    @classmethod
    def at(cls, sides: Sides, rule: RegressionRule) -> Look:
        rounds = max((len(pair.head.attempts) for pair in sides.pairs), default=1)
        tested = parts_of(sides.due, rule, alpha=_screen(rounds))
        gain = min((test.gain_p_value for test in tested.whole.values()), default=1.0)
        lost = {(each.family, each.name) for each in tested.findings if each.state is State.WORSE}
        suspected = [each for each in tested.findings if (each.family, each.name) in lost]
        return cls(suspected=suspected, gains=gain <= GAIN_P, doubtful=gain <= DOUBT_P)

    @property
    def places(self) -> Collection[Place]:
        """The whole and the parts that look lost."""
        return {(each.family, each.name) for each in self.suspected}

    @property
    def asks(self) -> bool:
        """Whether fresh rounds would say more."""
        return bool(self.suspected) or self.gains


class _Answer(Struct, frozen=True, kw_only=True):
    """What fresh rounds say; nothing if none were made."""

    parts: tuple[Finding, ...] = ()
    gained: bool | None = None
    bases: tuple[RunReport, ...] = ()  # the base's fresh runs
    source: str = ""


class _Open(Struct):
    """A comparison with the questions that its scored runs leave open."""

    runner: Runner
    sides: Sides
    source: str
    rule: RegressionRule
    base_is_fresh: bool
    acceptable: Collection[Key]

    def settled(self) -> tuple[RunReport, Comparison]:
        """The head's runs and the comparison after the fresh runs that these questions need."""
        self._renew_base()
        sides, deterministic = self.sides, self.sides.deterministic
        look = Look.at(sides, self.rule)
        by_case = deterministic and not any(run.graded for case in self.sides.head.cases for run in case.runs[:1])
        answer = _Answer() if by_case else self._answer_to(look)
        if answer.gained is False:  # the stored base was of a bad hour
            sides = Sides.of(self.sides.head, pooled(self.sides.base, answer.bases))
        known = {finding.key for finding in self.runner.lost_before}
        pairs, edited = ([pair for pair in some if pair.key not in known] for some in (sides.pairs, sides.edited))
        cases = CaseRuns(
            self.runner,
            self.rule,
            base_is_commit=self.sides.base.run.uncommitted is None,
            doubts_base=look.doubtful,
            base_is_fresh=self.base_is_fresh,
            acceptable=self.acceptable,
            critical_only=not (deterministic or self.acceptable) and state_of(answer.parts) is State.WORSE,
        )
        findings = cases.findings(pairs, edited, deterministic=deterministic)
        forms = () if by_case else self._lost_forms(edited, cases.old_forms)
        if by_case and cases.determinism_violated and look.places:  # it is like any other target
            answer = self._answer_to(look)
        if self.acceptable or state_of((*findings, *answer.parts)) is State.NOT_WORSE:
            open_ = {each.key for each in findings if each.reason not in CLEARED}
            both = [pair for pair in (*pairs, *edited) if pair.before.runs and pair.key not in open_]
            both += [Pair.of(case, case) for case in self.sides.matched.added]
            head = with_fresh_runs(self.runner, self.sides.head, both, self.rule)
            if head is not self.sides.head:
                self.sides = Sides.of(head, self.sides.base)
        evidence = FreshEvidence(
            cases=(*self.runner.lost_before, *findings),
            parts=(*forms, *answer.parts),
            gained=answer.gained,
            old_forms=frozenset(cases.old_forms),
            no_old_form=cases.no_old_form,
            determinism_violated=cases.determinism_violated,
            source=answer.source,
        )
        comparison = compare_sides(self.sides, self.source, self.rule, evidence)
        if look.places and not by_case and not answer.bases and (why := self.runner.why_no_rounds):
            comparison = replace(comparison, caveats=(*comparison.caveats, f"Decided on the stored base: {why}"))
        return self.sides.head, comparison

    def _lost_forms(self, edited: Sequence[Pair], old_forms: Mapping[Key, Pair]) -> Sequence[Finding]:
        """What is lost in the base's form and not fine in its new one.

        An edit explains what one of its forms shows. What both show, each by itself, is lost.
        """
        alpha = self.rule.alpha * (1.0 if self.base_is_fresh else STORED_LEVEL)

        def worse(forms: Sequence[Pair]) -> dict[tuple[str, str, str], Finding]:
            tested = parts_of([*self.sides.due, *forms], self.rule, alpha=alpha).findings if forms else ()
            return {_what(each): each for each in tested if each.state is State.WORSE}

        new_forms = [pair for pair in edited if pair.key in old_forms]
        fine = {pair.key for pair in new_forms if self.rule.accepts_edits and pair.head.status is Outcome.PASSED}
        left = worse([pair for key, pair in old_forms.items() if key not in fine or pair.critical])
        new = worse(new_forms)
        both = {what: each for what, each in worse([*old_forms.values()]).items() if what in new}
        return [*(both | left).values()]

    def _renew_base(self) -> None:
        """A base that is old, or that another model answered, is measured again before anything is said."""
        reason = next(stale(self.sides.head, self.sides.base, self.rule), "")
        if reason and self._can_make_rounds and self.sides.base.run.uncommitted is None and not self._drifts:
            rounds = self.runner.fresh_rounds(None, reason)
            if not isinstance(rounds, str) and self._doubt(rounds) is None:
                self.sides, self.source = Sides.of(self.sides.head, rounds.base), rounds.source

    @property
    def _can_make_rounds(self) -> bool:
        return not self.base_is_fresh and not self.runner.why_no_rounds

    def _answer_to(self, look: Look) -> _Answer:
        """What fresh rounds of the cases in question say; nothing if none can be made: the scored runs decide."""
        if not look.asks or not self._can_make_rounds:
            return _Answer()
        pairs = None if look.gains or WHOLE in look.places else _pairs_in(self.sides.due, look.places)
        rounds = self.runner.fresh_rounds(pairs, "a regression, it seems" if look.places else "a gain, it seems")
        if isinstance(rounds, str):
            return _Answer()
        if self._drifts:  # all of them are of the code that the stored result is of
            rounds = FreshRounds(
                base=self.sides.base, head=pooled(rounds.head, [rounds.base]), source=rounds.source
            )
        due = Sides.of(rounds.head, rounds.base).due
        gained = any(test.gain_p_value <= GAIN_P for test in parts_of(due, self.rule).whole.values())
        return _Answer(
            parts=self._decided(look, rounds, due),
            gained=gained if look.gains else None,
            bases=(rounds.base,),
            source=rounds.source,
        )

    def _decided(self, look: Look, rounds: FreshRounds, due: Sequence[Pair]) -> tuple[Finding, ...]:
        """What fresh rounds find of the whole and the parts that look lost."""
        doubt = self._doubt(rounds)
        findings = parts_of(due, self.rule, only=look.places).findings if look.places else ()
        decided = {_what(each): _of_fresh(each, doubt) for each in findings}
        if rounds.base.run.stopped or rounds.head.run.stopped:  # what they do not prove is open
            proven = {what: each for what, each in decided.items() if each.state is State.WORSE}
            decided = {
                _what(each): replace(each, state=State.NOT_KNOWN, reason=Reason.BUDGET) for each in look.suspected
            } | proven
        return tuple(decided.values())

    def _doubt(self, rounds: FreshRounds) -> tuple[Reason, str] | None:
        """Why a base that answers worse now than when it was stored excuses no loss; None if it does not."""
        pairs = Sides.of(rounds.base, self.sides.base).measured
        test = metric_test(pairs, "pass_rate") if pairs else None
        if test is None or test.p_value > FELL_P:
            return None
        return doubt_of(self.runner, base_is_commit=self.sides.base.run.uncommitted is None)

    @property
    def _drifts(self) -> bool:
        """Whether both sides are the same code, as on a schedule: what was lost since is a loss by drift."""
        head, base = self.sides.head.run, self.sides.base.run
        same = (head.commit, head.uncommitted) == (base.commit, base.uncommitted) and head.commit is not None
        return self.runner.of_branch and same and base.uncommitted is None


def _of_fresh(finding: Finding, doubt: tuple[Reason, str] | None) -> Finding:
    """A finding of fresh rounds, with the reason that says so."""
    if finding.state is State.WORSE:
        return replace(finding, reason=Reason.PROVEN)
    if finding.state is State.NOT_KNOWN:
        return finding
    reason, detail = doubt or (Reason.BASE_ALIKE, "")
    return replace(finding, state=MEANINGS[reason].state, reason=reason, detail=detail)


def _what(finding: Finding) -> tuple[str, str, str]:
    return finding.family, finding.name, finding.metric


def _pairs_in(pairs: Sequence[Pair], places: Collection[Place]) -> Sequence[Pair]:
    return [pair for pair in pairs if any(getattr(pair.base, family) == name for family, name in places)]
