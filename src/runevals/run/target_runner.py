"""What runs for a verdict: rounds of the head, and fresh runs of both sides if the verdict needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Self

from msgspec import Struct, field
from msgspec.structs import replace

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import capitalised, phrase, plural, short_list
from runevals.records import FRESH, AttemptReport, Conclusion, Finding, RunReport, State
from runevals.records.errors import RunevalsError
from runevals.run.baseline.unmeasured import own_error, require_measured
from runevals.run.measurement import Measurement, side_by_side
from runevals.suites.plan import Trial
from runevals.verdict.case_runs import RETRIES, RunSide
from runevals.verdict.matching import Key, Pair
from runevals.verdict.score import pooled
from runevals.verdict.settle import FreshRounds

if TYPE_CHECKING:
    from runevals.run.request import RunRequest

HEAD_LOOKS = 2  # fresh runs of the head beside those of the base
Opened = Callable[[], AbstractContextManager[Measurement]]


class Runner(Struct, kw_only=True, dict=True):
    """What runs cases for `runevals.verdict.settle`; what it opened on demand is closed with it."""

    request: RunRequest
    lacking: Callable[[], Sequence[str]]  # the files here that the base's checkout does not have
    trouble: str = ""  # what went wrong last
    _opened: ExitStack = field(default_factory=ExitStack)
    _checked: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @cached_property
    def base_lacks(self) -> str:
        """The files that the base's checkout lacks, by name; empty if none is known."""
        return short_list(self.lacking())

    def checking(self, cases: int) -> None:
        """Says that so many cases are about to be run again."""
        self._checked += cases
        looks = "it looks" if cases == 1 else "they look"
        self.request.tell(f"Running {plural(cases, 'case')} again: {looks} lost, or erred")


class TargetRunner(Runner, kw_only=True):
    """Runs real targets."""

    head: Measurement | RunReport  # to be measured, or measured already
    open_base: Opened  # the base's commit in a checkout of its own
    open_head: Opened  # the head again, without any cache
    open_old_form: Opened  # the head's target on the base's cases
    base_name: str  # for messages
    can_run: bool
    all_rounds: bool
    of_branch: bool  # the run is of a branch, not of a change
    cannot_run_base: str  # why; empty if it can be tried
    earlier: Conclusion | None = None  # of the same run, by an earlier attempt of this job
    _sides: dict[RunSide, Measurement] = {}
    _numbered: Counter[tuple[RunSide, Key]] = field(default_factory=Counter)  # the last attempt at each
    base_error: str = ""  # why it cannot, if it was tried
    _base_calls: int = 0
    _base_answers: bool = False

    @property
    def planned(self) -> int:
        """Rounds of the head at most."""
        return self.head.run.repeat if isinstance(self.head, RunReport) else self.head.plan.repeat

    def next_round(self) -> RunReport:
        """One more round of the head, or all of them if `all_rounds`."""
        if isinstance(self.head, RunReport):
            return self.head
        everything = self.all_rounds or self.planned == 1
        name = phrase(not everything, f"round {self.head.rounds_made + 1} of at most {self.planned}")
        sides = self.head.sides
        watch = self.request.progress(
            *sides,
            phase=", ".join(filter(None, (phrase(self.request.base, "head"), name))),
            total=None if everything else sum(len(side.plan.cases) for side in sides),
        )
        for _ in watch(self.head.everything() if everything else self.head.next_round()):
            pass
        return with_earlier(self.head.report(), self.earlier)

    @property
    def lost_before(self) -> Sequence[Finding]:
        """The cases that an earlier attempt at the same commit proved lost."""
        return lost_cases(self.earlier)

    @property
    def why_no_rounds(self) -> str:
        """Why no fresh rounds are made; empty if they are."""
        return self.cannot_run_base

    @property
    def base_looks(self) -> int:
        """Fresh runs of the base a case."""
        return self.request.settings.compare.verify_repeats

    @property
    def why_no_base(self) -> str:
        """Why the base cannot be run; empty if it can. Tries it."""
        if not self.cannot_run_base:
            try:
                self._side("base")
            except RunevalsError as error:
                self._cannot_run_base(error.first_line)
        return self.cannot_run_base

    def _cannot_run_base(self, why: str) -> str:
        self.cannot_run_base = self.base_error = f"the base {self.base_name} cannot be run: {why}"
        return self.base_error

    def fresh_rounds(self, only: Sequence[Pair] | None, why: str) -> FreshRounds | str:
        """Fresh runs of both sides in turn; a text says why there are none."""
        if self.why_no_base:
            return self.why_no_base
        after = max(self._numbered.values(), default=0)
        base = self._looking("base", only, after, self.base_looks)
        head = self._looking("head", only, after, HEAD_LOOKS)
        looks = len(base.plan.cases) * self.base_looks + len(head.plan.cases) * HEAD_LOOKS
        many = f"{plural(looks, 'run')} of {plural(len(head.plan.cases), 'case')} on both sides"
        self.request.tell(f"{capitalised(why)}: running the base {self.base_name} again before saying so, {many}")
        watch = self.request.progress(base, head, phase="base and head", total=looks)
        try:
            for _ in watch(side_by_side((base, head), after=after)):
                pass
            fresh = base.report()
            require_measured(fresh)
        except RunevalsError as error:  # single cases of it may be measured yet
            self.trouble = f"the base {self.base_name} cannot be run: {error.first_line}"
            return self.trouble
        return FreshRounds(base=fresh, head=head.report(), source=f"{FRESH} {self.base_name}")

    def _looking(self, side: RunSide, only: Sequence[Pair] | None, after: int, looks: int) -> Measurement:
        """Runs each of these cases so many times, numbered after those that any journal may have of them."""
        keys = None if only is None else [_on(side, pair) for pair in only]
        measured = self._side(side).of_cases(keys, after + looks)
        for case in measured.plan.cases:
            self._numbered[side, (case.suite, case.key)] = after + looks
        return measured

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        """One fresh run of each of these cases, without those that this side does not have."""
        if side == "base" and self.base_error:
            return {}
        keys = {_on(side, pair): pair.key for pair in cases}
        phase = f"{plural(self._checked, 'case')} again"
        try:
            last = max([self._offset, *(self._numbered[side, key] for key in keys)])
            measured = self._side(side).of_cases(list(keys), last + 1)
            trials = [self._next_trial(side, measured, index) for index in range(len(measured.plan.cases))]
            for _ in self.request.progress(measured, phase=phase, total=len(trials))(measured.evaluations(trials)):
                pass
        except RunevalsError as error:
            self.trouble = one_line(str(error), 300)
            if side == "base":
                self._cannot_run_base(self.trouble)
            return {}
        report = measured.report()
        if side == "base" and self._never_answers(report):
            self._cannot_run_base(own_error(report))
            return {}
        return {keys[case.suite, case.key]: case.attempts[-1] for case in report.cases if case.attempts}

    def _never_answers(self, report: RunReport) -> bool:
        """Whether the base has not answered a single one of its fresh calls, the retries among them."""
        self._base_answers |= any(case.attempts and case.values for case in report.cases)
        self._base_calls += 1
        return not self._base_answers and self._base_calls > RETRIES and report.run.stopped is None

    def _next_trial(self, side: RunSide, measured: Measurement, index: int) -> Trial:
        case = measured.plan.cases[index]
        count = self._numbered[side, (case.suite, case.key)]
        self._numbered[side, (case.suite, case.key)] = number = max(self._offset, count) + 1
        return measured.plan.trial(measured.plan.positions(index)[number - 1])

    @property
    def _offset(self) -> int:
        """Attempts of suspects are numbered after all others, so that no journal mixes them up."""
        return max(self.base_looks, HEAD_LOOKS, self.planned)

    def _side(self, side: RunSide) -> Measurement:
        if side not in self._sides:
            opened = {"base": self.open_base, "head": self.open_head, "old form": self.open_old_form}
            self._sides[side] = self._opened.enter_context(opened[side]())
        return self._sides[side]


def lost_cases(earlier: Conclusion | None) -> Sequence[Finding]:
    """The cases that an earlier attempt proved lost."""
    comparison = None if earlier is None else earlier.comparison
    return () if comparison is None else comparison.cases(State.WORSE)


def with_earlier(report: RunReport, earlier: Conclusion | None) -> RunReport:
    """With the runs of an earlier attempt of this job: another attempt does not draw again."""
    if earlier is None or report.run.target.deterministic:
        return report
    text = "an earlier attempt of this job ran the same commit: its runs count, too"
    run = replace(report.run, notices=tuple(dict.fromkeys((*report.run.notices, text))))
    return pooled(replace(report, run=run), (_other_runs(earlier.report, report),))


def _other_runs(earlier: RunReport, report: RunReport) -> RunReport:
    """Without the attempts that could not be measured: an outage then is not a property of the commit.

    And without those that `report` has, of shards that were not run again.
    """
    known = {(case.suite, case.key): [_unnumbered(one) for one in case.attempts] for case in report.cases}
    cases = [
        replace(
            case,
            attempts=tuple(
                one
                for one in case.attempts
                if one.status.measured and _unnumbered(one) not in known.get((case.suite, case.key), ())
            ),
        )
        for case in earlier.cases
    ]
    return replace(earlier, cases=tuple(cases))


def _unnumbered(attempt: AttemptReport) -> AttemptReport:
    return replace(attempt, attempt=0)


def _on(side: RunSide, pair: Pair) -> Key:
    return pair.key if side == "head" else pair.base_key
