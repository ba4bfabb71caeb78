"""Trials + target → traces, concurrently."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

from runevals.plan import Trial
from runevals.records import Conversation, Message, Problem, Response, Trace, TurnTrace
from runevals.targets import Target


def converse(trials: Iterable[Trial], target: Target, *, workers: int) -> Generator[Trace]:
    """Yields each trial's trace as it is finished; at most `workers` calls are under way.

    Raises what the target raises when it refuses altogether; calls not yet begun are dropped then.
    """
    left = iter(trials)
    pending: set[Future[Trace]] = set()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="target")
    try:
        while True:
            for trial in islice(left, 2 * workers - len(pending)):
                pending.add(pool.submit(_converse_one, trial, target))
            if not pending:
                return
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # done, or stopped: then nobody waits for the rest


def _converse_one(trial: Trial, target: Target) -> Trace:
    history: tuple[Message, ...] = ()
    turns: list[TurnTrace] = []
    broken: int | None = None
    if trial.case.problem is not None:
        unasked = TurnTrace(response=Response(problem=trial.case.problem))
        return Trace(position=trial.position, turns=(unasked,) * len(trial.case.turns))
    for number, turn in enumerate(trial.case.turns, start=1):
        if broken is not None:
            message = f"turn {broken} of this conversation has no answer"
            skipped = Response(problem=Problem(code="turn_skipped", message=message))
            turns.append(TurnTrace(response=skipped, history=history))
            continue
        response = target.answer(
            Conversation(
                suite=trial.case.suite,
                case=trial.case.key,
                attempt=trial.attempt,
                turn=number,
                prompt=turn.prompt,
                history=history,
                metadata=trial.case.metadata,
                cwd=trial.case.cwd,
                timeout_s=trial.case.timeout_s,
                thread=f"{trial.case.suite}#{trial.case.key}#{trial.attempt}",
            )
        )
        turns.append(TurnTrace(response=response, history=history))
        if response.problem is not None:
            broken = number
        history = (
            *history,
            Message(role="user", content=turn.prompt),
            Message(role="assistant", content=response.text),
        )
    return Trace(position=trial.position, turns=tuple(turns))
