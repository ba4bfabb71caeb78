"""Traces → results of evaluators, with label, threshold and outcome."""

from __future__ import annotations

import unicodedata
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import assert_never, cast

from msgspec import Struct
from msgspec.structs import replace

from runevals.evaluators.catalogue import BuiltCheck, is_builtin
from runevals.evaluators.kinds import (
    AnyEvaluator,
    Check,
    Composite,
    Evaluator,
    Judged,
    Member,
    Part,
    Scripted,
    Subject,
    leaves,
)
from runevals.records import (
    NO_JSON,
    STOPPED_CODES,
    WORKSPACE_BROKEN,
    CheckResult,
    Outcome,
    Problem,
    Response,
    Trace,
    Turn,
    TurnTrace,
    Verdict,
)
from runevals.records.errors import RunevalsError
from runevals.records.judgement import Judgement
from runevals.records.script import Call, ScriptRunner
from runevals.run.check_result import (
    CheckOutcome,
    errored,
    failed,
    measured,
    nothing_measured,
    of_plugin,
    outcome_of,
    share_of,
)
from runevals.run.incomplete import incomplete, settled, with_text
from runevals.run.matched_patterns import with_matches
from runevals.run.world import World
from runevals.run.world.budget import Pending
from runevals.suites.plan import RunPlan, Trial, checks_of

MOST_AT_ONCE = 16  # members of one evaluator; the judge and the sandbox have bounds of their own


class Evaluation(Struct, frozen=True, kw_only=True):
    """A trial's trace and the results of each of its turns."""

    trace: Trace
    turns: tuple[tuple[CheckResult, ...], ...]

    @property
    def position(self) -> int:
        return self.trace.position

    @property
    def results(self) -> list[CheckResult]:
        """The results of all turns."""
        return [result for turn in self.turns for result in turn]

    @property
    def cut_short(self) -> bool:
        """Whether the run was stopped before all of it was answered and evaluated."""
        answers = [turn.response.problem for turn in self.trace.turns]
        checks = [result.error for result in self.results]
        return any(problem is not None and problem.code in STOPPED_CODES for problem in (*answers, *checks))


def evaluate(
    plan: RunPlan, traces: Generator[Trace], world: World, *, workers: int, ahead: int = 1
) -> Iterator[Evaluation]:
    """Evaluates each trace as it comes, at most `workers` at once; yields in the order they are done.

    So many traces are taken `ahead`, for a target that need not be waited for. Of traces that a stop leaves
    no time for, every check has the stop's problem.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="evaluate")
    pending: Pending[Future[Evaluation], Trace] = Pending(world.stop)
    try:
        for trace, own_world in _taken_ahead(plan, traces, world, ahead):
            if world.stop.problem is None and _is_quick(plan, trace, own_world.sandbox):
                yield _evaluate_one(plan, trace, own_world)
            else:
                pending[pool.submit(_evaluate_one, plan, trace, own_world)] = trace
            for future in world.stop.first_of(pending) if len(pending) >= 4 * workers else pending.done():
                del pending[future]
                yield future.result()
        while pending and not world.stop.is_over:
            for future in world.stop.first_of(pending):
                del pending[future]
                yield future.result()
        for trace in pending.values():
            assert world.stop.problem is not None  # noqa: S101 - it is why they are still pending
            yield _unevaluated(plan, trace, world.stop.problem)
    finally:
        traces.close()  # no further target calls, and no call outlives the run
        pool.shutdown(wait=False, cancel_futures=True)  # done, or stopped: then the rest is not awaited


def _taken_ahead(
    plan: RunPlan, traces: Generator[Trace], world: World, ahead: int
) -> Iterator[tuple[Trace, World]]:
    """Each trace, with a world that knows what its patterns match if they were matched with those of others."""
    while taken := list(islice(traces, ahead)):
        calls = [call for trace in taken for call in _pattern_calls(plan, trace)] if ahead > 1 else []
        sandbox = with_matches(world.sandbox, calls)
        own_world = world if sandbox is world.sandbox else replace(world, sandbox=sandbox)
        yield from ((trace, own_world) for trace in taken)


def _pattern_calls(plan: RunPlan, trace: Trace) -> Iterator[Call]:
    """The calls of evaluators that are quick if their pattern is."""
    trial = plan.trial(trace.position)
    for index, turn in enumerate(trace.turns):
        calls = (_asks(check.evaluator, trial, index, turn) for check in checks_of(trial.case.turns[index]))
        yield from (call for call in calls if isinstance(call, Call))


def _asks(evaluator: Evaluator, trial: Trial, index: int, turn: TurnTrace) -> Call | Verdict | Problem | None:
    """What an evaluator wants to be called that may be quick; None of others."""
    if isinstance(evaluator, Scripted) and evaluator.may_be_quick and turn.response.problem is None:
        return evaluator.call(_subject(trial, index, turn))
    return None


def _evaluate_one(plan: RunPlan, trace: Trace, world: World) -> Evaluation:
    trial = plan.trial(trace.position)
    turns = tuple(_evaluate_turn(trial, index, turn, world) for index, turn in enumerate(trace.turns))
    return Evaluation(trace=trace, turns=_without_silence(trial, turns, world))


def _without_silence(
    trial: Trial, turns: tuple[tuple[CheckResult, ...], ...], world: World
) -> tuple[tuple[CheckResult, ...], ...]:
    """Skipped checks as errors, if none of the trial's was measured and they must not be skipped."""
    if any(result.outcome is not Outcome.SKIPPED or result.error for turn in turns for result in turn):
        return turns
    return tuple(
        tuple(
            result if _is_excused(check.evaluator, turn_of_case.expected, world) else nothing_measured(result)
            for check, result in zip(checks_of(turn_of_case), results, strict=True)
        )
        for turn_of_case, results in zip(trial.case.turns, turns, strict=True)
    )


def _is_excused(evaluator: Evaluator, expected: str | None, world: World) -> bool:
    """Whether it may be skipped: the run has no judge, or the case no expected text to compare with."""
    return all(
        (world.judge is None and isinstance(leaf, Judged)) or (expected is None and leaf.idle_without_expected())
        for leaf in leaves(evaluator)
    )


def _is_quick(plan: RunPlan, trace: Trace, sandbox: ScriptRunner) -> bool:
    """Whether no check needs a judge or a worker: then a thread costs more than it saves."""
    trial = plan.trial(trace.position)
    return all(
        _answers_at_once(check.evaluator, trial, index, turn, sandbox)
        for index, turn in enumerate(trace.turns)
        for check in checks_of(trial.case.turns[index])
    )


def _answers_at_once(
    evaluator: Evaluator, trial: Trial, index: int, turn: TurnTrace, sandbox: ScriptRunner
) -> bool:
    """Not for plugins: the duration of their evaluators is unknown."""
    if not is_builtin(evaluator):
        return False
    call = _asks(evaluator, trial, index, turn)
    return sandbox.is_quick(call) if isinstance(call, Call) else call is not None or isinstance(evaluator, Check)


def _unevaluated(plan: RunPlan, trace: Trace, problem: Problem) -> Evaluation:
    """The results of an answer that was not evaluated before the stop."""
    turns_of_case = plan.trial(trace.position).case.turns

    def without_time(check: BuiltCheck, answer: Response) -> CheckResult:
        return errored(check, answer.problem) if answer.problem else errored(check, problem, CheckOutcome(problem))

    turns = [
        tuple(without_time(check, turn.response) for check in checks_of(turns_of_case[number]))
        for number, turn in enumerate(trace.turns)
    ]
    return Evaluation(trace=trace, turns=tuple(turns))


def _evaluate_turn(trial: Trial, index: int, turn: TurnTrace, world: World) -> tuple[CheckResult, ...]:
    checks = checks_of(trial.case.turns[index])
    if turn.response.problem is not None:
        return tuple(_unanswered(check, turn.response, turn.response.problem) for check in checks)
    subject = _subject(trial, index, turn)
    place = Place(trial.case.key, index + 1, trial.attempt)
    results = tuple([_check(check, subject, place, world) for check in checks])
    if (problem := incomplete(turn.response)) is None:
        return results
    return settled(
        problem, checks, results, lambda check, text: _check(check, with_text(subject, text), place, world)
    )


def _subject(trial: Trial, index: int, turn: TurnTrace) -> Subject:
    turn_of_case, talk = trial.case.turns[index], turn.response.conversation
    return Subject(
        prompt=own_prompt(turn_of_case),
        response=turn.response,
        expected=turn_of_case.expected,
        context=turn_of_case.context,
        history=turn.history if talk is None else (*turn.history, *talk.messages),
        metadata=trial.case.metadata,
    )


def own_prompt(turn: Turn) -> str:
    """What the author wrote; what is sent may contain more."""
    return turn.prompt if turn.author_prompt is None else turn.author_prompt


def _unanswered(check: BuiltCheck, response: Response, problem: Problem) -> CheckResult:
    if problem.code == WORKSPACE_BROKEN:
        return failed(check, problem)
    outcome = check.evaluator.of_no_json(response) if problem.code == NO_JSON else None
    return errored(check, problem) if outcome is None else measured(check, outcome, ())


class Place(Struct, frozen=True):
    """Identifies the answer, so that its judgements can be cached."""

    case: str
    turn: int
    attempt: int


def _check(check: BuiltCheck, subject: Subject, place: Place, world: World) -> CheckResult:
    outcome = find_safely(check.evaluator, subject, place, world)
    if isinstance(outcome.result, Problem):
        return errored(check, outcome.result, outcome)
    return measured(check, outcome.result, outcome.judgements)


def find_safely(evaluator: Evaluator, subject: Subject, place: Place, world: World) -> CheckOutcome:
    """The verdict of one evaluator; its own fault is a problem."""
    try:
        outcome = _find(evaluator, subject, place, world)
        return outcome if is_builtin(evaluator) else of_plugin(outcome, evaluator)
    except RunevalsError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an evaluator's own fault is its check's error
        return CheckOutcome(Problem(code="evaluator_crashed", message=f"{type(error).__name__}: {error}"))


def _find(evaluator: Evaluator, subject: Subject, place: Place, world: World) -> CheckOutcome:
    kind = cast("AnyEvaluator", evaluator)
    match kind:
        case Check():
            return CheckOutcome(kind.check(subject))
        case Judged():
            return _judge(kind, subject, place, world)
        case Scripted():
            return _run_script(kind, subject, world.sandbox)
        case Composite():
            return _combine(kind, subject, place, world)
        case _:
            assert_never(kind)


def _judge(evaluator: Judged, subject: Subject, place: Place, world: World) -> CheckOutcome:
    if world.judge is None:
        return CheckOutcome(Verdict.skipped("no judge (--no-judge)"))
    # Only white space and punctuation, which some judges rate well.
    if all(unicodedata.category(character)[0] in "ZPC" for character in subject.response.text):
        return CheckOutcome(Verdict(evaluator.scale.minimum, "the response is empty"))
    question = evaluator.question(subject)
    if isinstance(question, Verdict | Problem):
        return CheckOutcome(question)
    judgement = world.judge.ask(question, case=place.case, turn=place.turn, attempt=place.attempt)
    if judgement.problem is not None:
        return CheckOutcome(judgement.problem, (judgement,))
    return CheckOutcome(evaluator.verdict(judgement), (judgement,))


def _run_script(evaluator: Scripted, subject: Subject, sandbox: ScriptRunner) -> CheckOutcome:
    call = evaluator.call(subject)
    if isinstance(call, Verdict | Problem):
        return CheckOutcome(call)
    answer = sandbox.run(call)
    if answer.error is not None:
        return CheckOutcome(Problem(code=answer.error, message=answer.reason), logs=answer.logs)
    return CheckOutcome(evaluator.verdict(answer))


def _combine(evaluator: Composite, subject: Subject, place: Place, world: World) -> CheckOutcome:
    parts: list[Part] = []
    judgements: tuple[Judgement, ...] = ()
    for member, part in _members(evaluator, subject, place, world):
        judgements += part.judgements
        if isinstance(part.result, Problem):
            reason = f"{part.result.code}: {part.result.message}"
            parts.append(Part(id=member.id, outcome=Outcome.ERRORED, score=None, reason=reason))
        else:
            outcome = outcome_of(part.result, member.evaluator, member.threshold, negated=member.negated)
            score = None if member.negated else share_of(part.result, member.evaluator)
            parts.append(Part(id=member.id, outcome=outcome, score=score, reason=part.result.reason))
        if evaluator.enough(parts):
            break
    return CheckOutcome(evaluator.combine(parts), judgements)


def _members(
    evaluator: Composite, subject: Subject, place: Place, world: World
) -> Iterator[tuple[Member, CheckOutcome]]:
    """The outcome of each member in order; those that need a judge or a worker wait in parallel."""

    def find(member: Member) -> CheckOutcome:
        return find_safely(member.evaluator, subject, place, world)

    waiting = sum(not isinstance(member.evaluator, Check) for member in evaluator.members)
    if evaluator.in_order or waiting < 2:
        yield from ((member, find(member)) for member in evaluator.members)
        return
    with ThreadPoolExecutor(min(waiting, MOST_AT_ONCE), thread_name_prefix="member") as pool:
        yield from zip(evaluator.members, pool.map(find, evaluator.members), strict=True)
