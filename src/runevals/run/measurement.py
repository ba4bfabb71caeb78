"""One side of a run, measured in rounds: converse → evaluate → score."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import asdict, replace

from runevals.lib.record_from import record_from
from runevals.lib.storage.store import Store
from runevals.lib.text.secrets import redactor, without_secrets
from runevals.models.http.throttle import Throttles
from runevals.records import (
    AttemptReport,
    Case,
    CaseReport,
    CheckResult,
    ModelIdentity,
    Outcome,
    Provenance,
    RunInfo,
    RunReport,
    SuiteInfo,
    TurnReport,
    TurnTrace,
)
from runevals.records.errors import RunevalsError
from runevals.records.rules import CRITICAL_CATEGORIES
from runevals.reports.identity import suite_names, target_name
from runevals.run.converse import converse, thread_of
from runevals.run.evaluate import Evaluation, evaluate
from runevals.run.live import live_target
from runevals.run.matched_patterns import AT_ONCE
from runevals.run.provenance import deprecations
from runevals.run.redaction.omit_content import without_content
from runevals.run.redaction.patterns import PatternRedactor
from runevals.run.world import World
from runevals.settings.resolve import Settings
from runevals.suites.plan import RunPlan, Trial, only_cases, without_cases
from runevals.verdict.score import case_report, over_turns, run_report

Watch = Callable[[Iterator[Evaluation]], Iterator[Evaluation]]
FEWEST_CASES = 5  # that were answered more than once
SAME_WORDS = (
    "all repeated runs gave identical answers: if that is always so, set `deterministic: true` in the target; "
    "if a cache does it, switch it off"
)


class RepeatedAnswers:
    """Receives every attempt until two of a case differ: if none do, an HTTP cache may be the cause."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}  # case → its words, as a hash
        self._again: set[int] = set()
        self._differ = False

    def see(self, case: int, attempt: AttemptReport) -> None:
        """An attempt at the case with this number; one without an answer is no equal one."""
        outputs = [turn.output for turn in attempt.turns]
        if self._differ or not outputs:
            return
        words = hash(tuple(outputs))
        if case in self._first:
            self._again.add(case)
        self._differ = None in outputs or self._first.setdefault(case, words) != words

    @property
    def notices(self) -> tuple[str, ...]:
        """The notice; empty if any answers differ, or too few cases were repeated (critical ones may be alone)."""
        few = len(self._again) < FEWEST_CASES or 2 * len(self._again) < len(self._first)
        return () if self._differ or few else (SAME_WORDS,)


class OtherSide(Struct):
    """A second way to run the same cases, in the rounds of the head. Its failure does not end the run."""

    name: str
    side: Measurement
    problem: str = ""  # why the rest of it was not measured

    def round(self, number: int) -> Iterator[Evaluation]:
        """One attempt at every case; nothing more after a failure."""
        try:
            if not self.problem:
                yield from self.side.round(number)
        except RunevalsError as error:
            self.problem = error.first_line


class Measurement:
    """One side being measured, round by round: converse → evaluate → score."""

    def __init__(
        self,
        plan: RunPlan,
        settings: Settings,
        world: World,
        provenance: Provenance,
        *,
        base_results: Mapping[tuple[str, str], CaseReport] = {},
    ) -> None:
        """`base_results`: the results, by suite and key, of cases of the plan that are not measured."""
        self._base_results = [base_results.get((case.suite, case.key)) for case in plan.cases]
        self.plan = without_cases(plan, base_results)
        self.settings = settings
        self._world = world
        self._provenance = provenance
        self._secrets = redactor(settings.environment, settings.key_names)
        self._patterns = PatternRedactor(settings.redaction.redact_patterns, world.sandbox)
        self._patterns.require_usable()
        self._patterns.require_apart([(case.suite, case.key) for case in plan.cases])
        self._started_at, self._started = world.now(), time.monotonic()
        self._done: dict[int, AttemptReport] = {}
        self._scored: dict[int, CaseReport] = {}
        self._cut_short = False
        self._same_words = RepeatedAnswers()
        self._store = Store(TurnReport)
        # A case is scored and written while others are awaited, if nothing of it will be redacted at the end.
        unchanged = settings.redaction.redact == "full" and not settings.redaction.redact_patterns
        self._scores_early = unchanged and not world.target.identity().deterministic
        self.rounds_made = 0  # by `next_round`
        self.other: OtherSide | None = None  # is measured in the same rounds

    @property
    def throttles(self) -> Throttles:
        """The throttles of its calls."""
        return self._world.throttles

    @property
    def target(self) -> ModelIdentity:
        """What is known of its target so far."""
        return self._world.target.identity()

    @property
    def subject(self) -> str:
        """The suites and the target, by name."""
        return " · ".join(filter(None, (suite_names(self.plan.suites), target_name(self.target))))

    def redact(self, text: str) -> str:
        """`text` as it may be shown."""
        return self._patterns(self._secrets(text))

    @property
    def sides(self) -> tuple[Measurement, ...]:
        """This side, and the one that is measured with it."""
        return (self,) if self.other is None else (self, self.other.side)

    def everything(self) -> Iterator[Evaluation]:
        """All trials, in one go; in rounds if another side is measured with this one."""
        if self.other is None:
            yield from self.evaluations(self.plan.trials)
            return
        for number in range(1, self.plan.repeat + 1):
            yield from self.round(number)

    def round(self, number: int) -> Iterator[Evaluation]:
        """One attempt at every case, the one with this number; nothing after the last."""
        if number <= self.plan.repeat:
            yield from self._with_other(self.plan.round(number), number)

    def next_round(self) -> Iterator[Evaluation]:
        """The first round not yet made. The first one has every attempt at the cases of which each must pass."""
        self.rounds_made += 1
        trials = (
            trial
            for trial in self.plan.trials
            if (1 if trial.case.category in CRITICAL_CATEGORIES else trial.attempt) == self.rounds_made
        )
        yield from self._with_other(trials, self.rounds_made)

    def _with_other(self, trials: Iterable[Trial], number: int) -> Iterator[Evaluation]:
        yield from self.evaluations(trials)
        if self.other is not None:
            yield from self.other.round(number)

    def of_cases(self, keys: Sequence[tuple[str, str]] | None, repeat: int) -> Measurement:
        """Another measurement of this side, of only these cases (suite and key), with so many attempts at each."""
        return Measurement(only_cases(self.plan, keys, repeat), self.settings, self._world, self._provenance)

    def report(self) -> RunReport:
        """What was measured so far."""
        plan, world, target = self.plan, self._world, self.target
        stopped = world.stop.problem if self._cut_short else None
        repeating = () if target.deterministic else self._same_words.notices
        notices = (*self._provenance.notices, *repeating, *deprecations(self.settings))
        info = RunInfo(
            **asdict(replace(self._provenance, notices=notices)),
            started_at=self._started_at,
            duration_s=time.monotonic() - self._started,
            target=target,
            judge=world.judge_identity,
            repeat=plan.repeat,
            suites=tuple(record_from(SuiteInfo, suite) for suite in plan.suites),
            python=platform.python_version(),
            shard=plan.shard,
            sandbox=world.sandbox.mode,
            stopped=stopped,
        )
        measured = (self._scored.get(index) or self._case(index) for index in range(len(self.plan.cases)))
        cases = [of_base or next(measured) for of_base in self._base_results]
        report = run_report(info, cases, complete=stopped is None)
        report = without_secrets(report, self._secrets, already=CaseReport)
        report = self._patterns.within_report(report)
        return without_content(report, self.settings.redaction.redact)

    def evaluations(self, trials: Iterable[Trial]) -> Iterator[Evaluation]:
        """Sends, evaluates and keeps these trials; yields each when it is done."""
        world = self._world
        from_memory = live_target(self.settings) is None
        traces = converse(
            trials,
            world.target,
            workers=0 if from_memory else self.settings.measure.concurrency,
            stop=world.stop,
            probes=self.plan.probes,
        )
        ahead, workers = AT_ONCE if from_memory else 1, self.settings.measure.judge_concurrency
        for evaluation in evaluate(self.plan, traces, world, workers=workers, ahead=ahead):
            self._keep(evaluation)
            self._settle(evaluation)
            world.stop.cut_short |= evaluation.cut_short
            yield evaluation

    def _keep(self, evaluation: Evaluation) -> None:
        """Scored and without secrets; large texts are moved out of memory."""
        trial = self.plan.trial(evaluation.position)
        both = zip(evaluation.trace.turns, evaluation.turns, strict=True)
        turns = [_turn_report(trial.case, index, *one) for index, one in enumerate(both)]
        attempt = without_secrets(over_turns(trial.attempt, turns), self._secrets)
        if self.plan.repeat > 1:
            self._same_words.see(evaluation.position // self.plan.repeat, attempt)
        self._done[evaluation.position] = replace(attempt, turns=self._store.offload(tuple(attempt.turns)))
        index = evaluation.position // self.plan.repeat
        if self._scores_early and self._done.keys() >= {*self.plan.positions(index)}:
            self._scored[index] = self._case(index)
        self._cut_short |= evaluation.cut_short

    def _settle(self, evaluation: Evaluation) -> None:
        """Keeps the workspace of an attempt that did not pass."""
        workspaces = self._world.workspaces
        if workspaces is not None:
            passed = self._done[evaluation.position].status is Outcome.PASSED
            workspaces.settle(thread_of(self.plan.trial(evaluation.position)), passed=passed)

    def _case(self, index: int) -> CaseReport:
        """A case by its attempts so far, without secrets."""
        case, positions = self.plan.cases[index], self.plan.positions(index)
        attempts = [self._done[position] for position in positions if position in self._done]
        scored = case_report(case, attempts, quarantined=(case.suite, case.key) in self.plan.quarantined)
        return without_secrets(scored, self._secrets, already=AttemptReport)


def measure(side: Measurement, watch: Watch = iter) -> RunReport:
    """converse → evaluate → score, for all trials; `watch` observes the evaluations."""
    for _ in watch(side.everything()):
        pass
    return side.report()


def side_by_side(sides: Sequence[Measurement], *, after: int = 0) -> Iterator[Evaluation]:
    """The rounds `after` this one of all sides in turn, so that an outage affects all sides alike."""
    for number in range(after + 1, max(side.plan.repeat for side in sides) + 1):
        for side in sides:
            yield from side.round(number)


def _turn_report(case: Case, index: int, turn: TurnTrace, results: tuple[CheckResult, ...]) -> TurnReport:
    turn_of_case, response = case.turns[index], turn.response
    return record_from(
        TurnReport,
        response,
        prompt=turn_of_case.prompt,
        expected=turn_of_case.expected,
        context=turn_of_case.context,
        output=None if response.problem is not None else response.text,
        results=results,
        error=response.problem,
    )


def silent(*_sides: Measurement, **_more: object) -> Watch:
    """Shows nothing."""
    return iter


class Progress(Protocol):
    """Shows the progress of the sides that are being measured; the caller of a run supplies it."""

    def __call__(self, *sides: Measurement, phase: str = "", total: int | None = None) -> Watch:
        """What to wrap the evaluations of `sides` in.

        `phase` says which part of a longer run this is, `total` how many trials there are where not all are made.
        """
