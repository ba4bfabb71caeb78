"""Trials + target → traces, concurrently."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

from runevals.lib.record_from import record_from
from runevals.records import (
    WORKSPACE_BROKEN,
    Conversation,
    Message,
    Probe,
    Problem,
    ProgramProbe,
    Response,
    Trace,
    Turn,
    TurnTrace,
)
from runevals.run.world.budget import Pending, Stop
from runevals.suites.plan import Trial
from runevals.targets import Target

SPARE = 4  # for so many calls under way, one more trial


Probes = Callable[[Trial, int], tuple[Probe, ...]]


def converse(
    trials: Iterable[Trial], target: Target, *, workers: int, stop: Stop, probes: Probes = lambda *_: ()
) -> Generator[Trace]:
    """Yields each trial's trace as it is finished; some more than `workers` are under way.

    `probes` says what the checks of a turn look at in its workspace.

    How many calls are, the target sees to: those beyond prepare theirs, or write down what they were answered.
    Without `workers`, each trial is conversed in this thread, for a target that answers from memory.

    After a stop nothing more is asked, and trials without an answer have the stop's problem in its place. Raises
    what the target raises when it refuses altogether; calls not yet begun are dropped then.
    """
    if not workers:
        for trial in trials:
            yield _converse_one(trial, target, probes) if stop.problem is None else _unasked(trial, stop.problem)
        return
    workers += workers // SPARE
    left = iter(trials)
    pending: Pending[Future[Trace], Trial] = Pending(stop)
    pool = ThreadPoolExecutor(workers, thread_name_prefix="target")
    try:
        while True:
            for trial in islice(left, 0 if stop.problem else 2 * workers - len(pending)):
                pending[pool.submit(_converse_one, trial, target, probes)] = trial
            if not pending or stop.is_over:
                break
            for future in stop.first_of(pending):
                del pending[future]
                yield future.result()
        if stop.problem is not None:
            for trial in (*pending.values(), *left):
                yield _unasked(trial, stop.problem)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # done, or stopped: then the rest is not awaited


def _converse_one(trial: Trial, target: Target, probes: Probes) -> Trace:
    history = trial.case.opening
    turns: list[TurnTrace] = []
    broken: Problem | None = None
    if trial.case.problem is not None:
        return _unasked(trial, trial.case.problem)
    of_turns = [probe for index in range(len(trial.case.turns)) for probe in probes(trial, index)]
    # The paths that checks of any turn may restore: they are copied before the first turn.
    restored = {path for probe in of_turns if isinstance(probe, ProgramProbe) for path in probe.restore}
    for number, turn in enumerate(trial.case.turns, start=1):
        if broken is not None:
            turns.append(TurnTrace(response=Response(problem=broken), history=history))
            continue
        response = target.answer(
            record_from(
                Conversation,
                trial.case,
                case=trial.case.key,
                attempt=trial.attempt,
                turn=number,
                prompt=turn.prompt,
                history=history,
                thread=thread_of(trial),
                turns=len(trial.case.turns),
                probes=probes(trial, number - 1),
                restorable=tuple(sorted(restored)),
                user=turn.user,
            )
        )
        turns.append(TurnTrace(response=response, history=history))
        if response.problem is not None:
            skipped = Problem(code="turn_skipped", message=f"turn {number} of this conversation has no answer")
            broken = response.problem if response.problem.code == WORKSPACE_BROKEN else skipped
        history = (*history, *_messages(turn, response))
    return Trace(position=trial.position, turns=tuple(turns))


def _messages(turn: Turn, response: Response) -> tuple[Message, ...]:
    """What a turn adds to the conversation."""
    if response.conversation is not None:
        return response.conversation.messages
    return Message(role="user", content=turn.prompt), Message(role="assistant", content=response.text)


def thread_of(trial: Trial) -> str:
    """What all turns of a trial have in common."""
    return f"{trial.case.suite}#{trial.case.key}#{trial.attempt}"


def _unasked(trial: Trial, problem: Problem) -> Trace:
    """A trial none of whose prompts was sent."""
    unasked = TurnTrace(response=Response(problem=problem))
    return Trace(position=trial.position, turns=(unasked,) * len(trial.case.turns))
