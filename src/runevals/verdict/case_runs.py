"""Fresh runs of single cases on both sides, as the plan asks for them, and what they show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import grouped, if_known, without
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase
from runevals.records import AttemptReport, CaseReport, Finding, Outcome, Reason, RegressionRule, State
from runevals.verdict import plan as planning
from runevals.verdict.cached_runs import from_cache
from runevals.verdict.evidence import OUTCOME, entrant_of, title_of, values_of
from runevals.verdict.findings import of_case, stored_findings
from runevals.verdict.lost_together import CLEARED, PROVEN_BEFORE
from runevals.verdict.matching import Key, Pair
from runevals.verdict.plan import Entrant, Plan
from runevals.verdict.reasons import MEANINGS
from runevals.verdict.score import over_attempts
from runevals.verdict.wording import first_error

RETRIES = 2  # of a fresh run that errored
# Cases of a deterministic target that are run again: it repeats itself, or it does not.
SAMPLE, SAMPLE_SHARE = 5, 0.1

NO_RUNS = "`fresh_runs` allows no run of it"

RunSide = Literal["base", "head", "old form"]  # old form: the head's target on the base's cases


class CaseRunner(Protocol):
    """Runs single cases again. Cached answers do not count as fresh runs."""

    @property
    def why_no_base(self) -> str:
        """Why the base cannot be run; empty if it can. Tries it."""

    @property
    def base_lacks(self) -> str:
        """The files that the base's checkout lacks, which its programs name; empty if none is known."""

    @property
    def trouble(self) -> str:
        """Why a requested fresh run could not be made; empty if none failed."""

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        """One fresh run of each of these cases, without those that could not be made."""

    def checking(self, cases: int) -> None:
        """Called before so many cases are run again."""


class _Runs(Struct):
    """A case that looks lost, with its fresh runs."""

    pair: Pair
    new_form: Pair | None = None  # of an edited case, whose base's form is `pair`
    base: list[AttemptReport] = []
    head: list[AttemptReport] = []
    cached: str = ""  # the evidence that a cache answers them

    def of(self, side: planning.Side) -> list[AttemptReport]:
        return self.base if side == "base" else self.head


class CaseRuns(Struct):
    """Runs the cases that look lost until the plan has no more questions, or nothing more may be run."""

    runner: CaseRunner
    rule: RegressionRule
    base_is_commit: bool = True  # the base's result is of its commit, not of edits beside it
    doubts_base: bool = False  # it may be of a bad hour: cases that fail on both sides are looked at, too
    base_is_fresh: bool = False  # it was measured just now: what it fails, it fails
    acceptable: Collection[Key] = ()  # the losses that a reviewer may accept
    retries: int = RETRIES
    critical_only: bool = False  # a loss is proven already: the other cases are not run and stay open
    determinism_violated: bool = False  # a deterministic target gave two answers to one question
    old_forms: Mapping[Key, Pair] = {}  # the edited cases whose old form was run on the head, in that form
    no_old_form: str = ""  # why that of another could not be run
    _pairs: Sequence[Pair] = ()
    _runs: dict[Key, _Runs] = {}

    def findings(
        self, pairs: Sequence[Pair], edited: Sequence[Pair], *, deterministic: bool
    ) -> tuple[Finding, ...]:
        """A finding for each case that looks lost. Of edited ones, the base's form is run on the head first."""
        old_forms = self._old_forms([pair for pair in edited if pair.critical or not self.critical_only])
        self.old_forms, self._runs = {key: runs.pair for key, runs in old_forms.items()}, old_forms
        self._pairs = [*pairs, *self.old_forms.values()]
        lost = [pair for pair in edited if pair.regressed and not pair.same_content]
        entrants = {each.key: each for each in self._of_entrants(deterministic=deterministic)}
        stricter = [pair for pair in lost if pair.key in old_forms and pair.key not in entrants]
        forms = [
            *(
                of_case(pair, (), Reason.OLD_FORM, edited=True, detail=self.no_old_form)
                for pair in lost
                if pair.key not in old_forms
            ),
            *(of_case(pair, (), Reason.PASSED_AGAIN, edited=True, dead=False) for pair in stricter),
        ]
        return (*entrants.values(), *forms)

    def _of_entrants(self, *, deterministic: bool) -> Iterable[Finding]:
        """If a deterministic target contradicts itself, all is asked as of any other; its runs so far count."""
        by_key = {pair.key: pair for pair in self._pairs}
        entrants = self._entrants(by_key.values(), deterministic=deterministic)
        self._runs = {key: self._runs.get(key) or _Runs(by_key[key]) for key in entrants}
        entered = {key: each for key, each in entrants.items() if each.critical or not self.critical_only}
        if entered:
            self.runner.checking(len(entered))
        results = self._sampled(entered) if deterministic else {}
        rest = without(entered, results)
        for may_pass in (False, True):  # on their own: what is accepted is no evidence about the others
            some = {key: each for key, each in rest.items() if (key in self.acceptable) is may_pass}
            results |= self._planned(some) if some else {}
        if self.determinism_violated and deterministic:
            return self._of_entrants(deterministic=False)
        others = (each for key, each in entrants.items() if key not in entered and not each.doubtful)
        open_ = [self._finding(each.case, each, Reason.BUDGET, PROVEN_BEFORE) for each in others]
        return (*results.values(), *open_)

    def _entrants(self, pairs: Iterable[Pair], *, deterministic: bool) -> dict[Key, Entrant[Key]]:
        """The cases that look lost; those that fail on both sides only if the base can be run."""
        entered = (entrant_of(pair, deterministic=deterministic, doubts_base=self.doubts_base) for pair in pairs)
        entrants = {each.case: each for each in entered if each is not None}
        doubtful = any(each.doubtful for each in entrants.values())
        if doubtful and (self.base_is_fresh or self.runner.why_no_base):
            return {key: each for key, each in entrants.items() if not each.doubtful}
        return entrants

    def _old_forms(self, edited: Sequence[Pair]) -> dict[Key, _Runs]:
        """The edited cases with runs of the head in the base's form, as many as of the new one, in place of it."""
        looks = range(max((len(pair.head.attempts) for pair in edited), default=0))
        attempts = grouped(
            one for _ in looks if not self.runner.why_no_base for one in self._fresh("old form", edited).items()
        )
        by_key = {pair.key: pair for pair in edited}
        forms = {}
        for key, of_form in attempts.items():
            new = by_key[key]
            head = replace(over_attempts(new.base, of_form), suite=new.head.suite, key=new.head.key)
            forms[key] = _Runs(Pair.of(new.base, head), new_form=new)
        why = len(forms) < len(edited) and (self.runner.why_no_base or self.runner.trouble)
        self.no_old_form = phrase(why, "the old form could not be run: {}")
        return forms

    def _sampled(self, entrants: Mapping[Key, Entrant[Key]]) -> dict[Key, Finding]:
        """For a deterministic target: every difference is a loss if cases that are run again repeat themselves."""
        certain = [each for each in entrants.values() if each.deterministic and each.head_known]
        certain.sort(key=lambda each: not each.critical)
        sample = {each.case: each for each in certain[: max(SAMPLE, int(SAMPLE_SHARE * len(self._pairs)))]}
        results = self._planned(sample) if sample else {}
        self.determinism_violated = any(
            finding.reason in CLEARED or _wavers(self._runs[key]) for key, finding in results.items()
        )
        open_ = (each for each in results.values() if each.state is State.NOT_KNOWN)
        reason, detail = next(((each.reason, each.detail) for each in open_), (Reason.EXACT, ""))
        for each in certain[len(sample) :]:
            results[each.case] = self._finding(each.case, each, reason, detail)
        return results

    def _planned(self, entrants: Mapping[Key, Entrant[Key]]) -> dict[Key, Finding]:
        """The findings of the cases after the runs that the plan asks for."""
        plan = Plan(list(entrants.values()), self._rules)
        for key in entrants:
            for side in planning.SIDES:
                plan.add(key, side, [*map(values_of, self._runs[key].of(side))])
        alone = self._play(plan, entrants)
        evidence = plan.findings()
        results = {
            key: self._finding(key, entrants[key], *self._reason(key, each), evidence=each)
            for key, each in evidence.items()
            if key not in alone
        }
        return results | self._without_base({key: entrants[key] for key in alone})

    @property
    def _rules(self) -> planning.Rules:
        limit = self.rule.max_fresh_runs
        return planning.Rules.of(len(self._pairs)) if limit is None else planning.Rules(fresh_runs=limit)

    def _play(self, plan: Plan[Key], keys: Iterable[Key]) -> Collection[Key]:
        """Makes the runs that the plan asks for → the cases whose stored runs must decide."""
        last = False
        while (requests := plan.requests()) and not self.runner.why_no_base:
            arrived = sum(self._make(plan, requests, side) for side in ("base", "head"))
            if not arrived or last:
                break
            last = any(finding.state == "lost" for finding in plan.findings().values())
        evidence = plan.findings()
        alone = [key for key in keys if self._is_alone(key, evidence.get(key))]
        self._make(plan, [request for request in requests if request.case in alone], "head")
        return alone

    def _is_alone(self, key: Key, evidence: planning.Finding | None) -> bool:
        """Whether its stored runs must decide: the base cannot be run, or no run of it was affordable."""
        runs = self._runs[key]
        unasked = evidence is not None and evidence.state in ("not shown", "died") and not runs.head
        return not runs.base and (unasked or bool(self.runner.why_no_base))

    def _make(self, plan: Plan[Key], requests: Sequence[planning.Request[Key]], side: planning.Side) -> int:
        """Makes the requested runs of one side, and tells the plan → how many arrived."""
        waiting = {request.case: request.runs for request in requests if request.side == side}
        arrived = 0
        while waiting:
            attempts = self._of_side(side, list(waiting))
            for key, attempt in attempts.items():
                plan.add(key, side, [self._values(attempt)])
            arrived += len(attempts)
            waiting = {key: number - 1 for key, number in waiting.items() if number > 1 and key in attempts}
        return arrived

    def _of_side(self, side: planning.Side, keys: Sequence[Key]) -> Mapping[Key, AttemptReport]:
        attempts: dict[Key, AttemptReport] = {}
        for edited in (False, True):
            some = [self._runs[key] for key in keys if (self._runs[key].new_form is not None) is edited]
            run_side: RunSide = "old form" if edited and side == "head" else side
            attempts |= self._fresh(run_side, [runs.new_form or runs.pair for runs in some])
        for key, attempt in attempts.items():
            runs = self._runs[key]
            known = (*runs.pair.base.attempts, *runs.pair.head.attempts, *runs.base, *runs.head)
            runs.cached = runs.cached or from_cache(attempt, known)
            runs.of(side).append(attempt)
        return attempts

    def _values(self, attempt: AttemptReport) -> planning.Run:
        return values_of(attempt)

    def _fresh(self, side: RunSide, pairs: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        """One run of each; those that err are retried."""
        attempts: dict[Key, AttemptReport] = {}
        missing = list(pairs)
        for _ in range(1 + self.retries):
            if missing:
                attempts |= self.runner.again(side, missing)
                missing = [p for p in missing if p.key in attempts and attempts[p.key].status is Outcome.ERRORED]
        return attempts

    def _reason(self, key: Key, evidence: planning.Finding) -> tuple[Reason, str]:
        """The reason of a case's state, and what its sentence names."""
        runs = self._runs[key]
        passes_first = {run.status for run in runs.head[: planning.FIRST]} == {Outcome.PASSED}
        if passes_first and not runs.pair.before.runs:  # what the base would do does not matter
            return Reason.PASSED_AGAIN, ""
        if runs.cached:
            return Reason.CACHE, f"a cache on the way answers its fresh runs ({runs.cached})"
        reason = _REASONS[evidence.state]
        if reason is Reason.BUDGET:
            return self._why_open(runs, evidence)
        if evidence.state == "cleared" and passes_first:
            return Reason.PASSED_AGAIN, ""
        excused = reason in (Reason.BASE_ALIKE, Reason.UNPROVEN)  # by a base that fails as well now
        died_on_base = excused and runs.pair.before.passes and runs.base and not _passes(runs.base)
        doubt = doubt_of(self.runner, base_is_commit=self.base_is_commit) if died_on_base else None
        return doubt or (reason, "")

    def _why_open(self, runs: _Runs, evidence: planning.Finding) -> tuple[Reason, str]:
        """Why the runs of a case settle nothing."""
        allowed = Reason.ERRORS_ALLOWED if self.rule.max_errors and not runs.pair.head.critical else None
        if not any(run.status.measured for run in (*runs.pair.base.attempts, *runs.base)):
            why = one_line(first_error(runs.pair.base) or "", 300)
            return allowed or Reason.UNMEASURED, phrase(why, "not measured on the base: {}")
        if evidence.state == "open" and self.runner.trouble:
            return Reason.ERRORS, self.runner.trouble
        statuses = {run.status for run in (*runs.base, *runs.head)}
        if evidence.state == "unknown" and (evidence.missing or Outcome.ERRORED in statuses):
            return allowed or Reason.ERRORS, ""
        return Reason.BUDGET, ""

    def _without_base(self, entrants: Mapping[Key, Entrant[Key]]) -> dict[Key, Finding]:
        """No fresh run of the base: the head's first ones clear a case, or count beside its scored runs.

        What was asked for and could not be made leaves it open.
        """
        results: dict[Key, Finding] = {}
        longer = {}
        for key, each in entrants.items():
            runs = self._runs[key]
            if runs.head and all(run.status is Outcome.PASSED for run in runs.head):
                results[key] = self._finding(key, each, Reason.PASSED_AGAIN)
            elif not runs.head and self.runner.trouble:
                results[key] = self._finding(key, each, Reason.ERRORS, self.runner.trouble)
            else:
                more = [*runs.pair.head.attempts, *runs.head]
                longer[key] = Pair.of(runs.pair.base, over_attempts(runs.pair.head, more))
        pairs = [*({pair.key: pair for pair in self._pairs} | longer).values()]
        certain = all(each.deterministic for each in entrants.values())
        why = self.runner.why_no_base or NO_RUNS
        stored = stored_findings(pairs, self.rule, deterministic=certain, only=longer, why_final=why)
        return results | {finding.key: self._with_runs(finding) for finding in stored}

    def _finding(
        self,
        key: Key,
        entry: Entrant[Key],
        reason: Reason,
        detail: str = "",
        evidence: planning.Finding | None = None,
    ) -> Finding:
        runs = self._runs[key]
        dead = runs.pair.dead and not _passes(runs.head)
        finding = of_case(
            runs.new_form or runs.pair,
            [title for unit in entry.cuts if (title := title_of(unit))],
            reason,
            detail=detail,
            dead=dead and reason not in (*CLEARED, Reason.ERRORS_ALLOWED),
            e_value=if_known(attrgetter("e_value"), evidence),
            more=None if evidence is None or reason is Reason.PROVEN else evidence.more_pairs,
        )
        return self._with_runs(finding)

    def _with_runs(self, finding: Finding) -> Finding:
        """The finding with its fresh runs. A loss of the old form alone is fine where edits are."""
        runs = self._runs[finding.key]
        new, reason = runs.new_form, finding.reason
        passes_edited = new is not None and new.head.status is Outcome.PASSED
        in_doubt = finding.state is not State.NOT_WORSE or reason is Reason.UNPROVEN
        if in_doubt and passes_edited and self.rule.accepts_edits and not finding.critical:
            reason = Reason.NEW_FORM
        return replace(
            finding,
            state=MEANINGS[reason].state,
            reason=reason,
            edited=new is not None,
            base=over_attempts(runs.pair.base, runs.base) if runs.base else None,
            head=over_attempts(runs.pair.head, runs.head) if runs.head else None,
        )


class ErroredRuns(CaseRuns):
    """Runs the cases again of which a run erred: an error is a failure, on either side, and is not retried."""

    retries: int = 0

    def _values(self, attempt: AttemptReport) -> planning.Run:
        return {OUTCOME: float(not attempt.unmeasured)}

    def measured(self, pairs: Sequence[Pair]) -> Iterator[CaseReport]:
        """The cases that do not err more often than the base's, with their measured runs and the fresh ones."""
        self._pairs, self._runs = pairs, {pair.key: _Runs(pair) for pair in pairs}
        cuts, rules = {OUTCOME: planning.PASS}, replace(self._rules, most_pass=1.0)
        plan = Plan([Entrant(case=pair.key, cuts=cuts, critical=pair.critical) for pair in pairs], rules)
        self._play(plan, self._runs)
        for key, evidence in plan.findings().items():
            runs, head = self._runs[key], self._runs[key].pair.head
            of_head, fresh = ([run for run in some if not run.unmeasured] for some in (head.attempts, runs.head))
            if evidence.state in ("cleared", "not shown") and fresh and not runs.cached:
                yield over_attempts(head, [*of_head, *fresh])


_REASONS: Mapping[planning.State, Reason] = {
    "lost": Reason.PROVEN,
    "unknown": Reason.BUDGET,
    "open": Reason.BUDGET,
    "cleared": Reason.BASE_ALIKE,
    "not shown": Reason.BASE_ALIKE,
    "died": Reason.UNPROVEN,
}


def doubt_of(runner: CaseRunner, *, base_is_commit: bool) -> tuple[Reason, str] | None:
    """Why other answers of the base's commit than those that are stored clear nothing; None if they do."""
    if not base_is_commit:
        return Reason.BASE_EDITS, ""
    if lacks := runner.base_lacks:
        other = "the base gives other answers now, and its checkout"
        return Reason.BASE_FILES, f"{other} lacks {lacks}, which git ignores (`share` links it)"
    return None


def _passes(runs: Sequence[AttemptReport]) -> int:
    return sum(run.status is Outcome.PASSED for run in runs)


def _wavers(runs: _Runs) -> bool:
    """Whether fresh runs of a side differ."""
    return any(len({run.status for run in side if run.status.measured}) > 1 for side in (runs.base, runs.head))
