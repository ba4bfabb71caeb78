"""The progress of a run: a bar at a terminal, elsewhere occasional lines."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Literal

import click

from runevals.cli import WITHOUT_CURSOR
from runevals.github.annotations import group_command
from runevals.lib.nullable import if_known, known, total
from runevals.lib.terminal import say, terminal_text
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import money, phrase, plural
from runevals.records import Outcome
from runevals.verdict.score import status_of, without_answer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from runevals.models.http.throttle import Throttles
    from runevals.run.evaluate import Evaluation
    from runevals.run.measurement import Measurement, Watch
    from runevals.suites.plan import Trial

Detail = Literal["none", "counts", "trials"]
Say = Callable[[str], None]

LINE_EVERY_S = 30.0
BAR_EVERY_S = 0.25
PACE_OF = 100  # the newest trials, from which the time left is estimated

OUTCOME_MARKS = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.ERRORED: "!", Outcome.SKIPPED: "–"}


def progress(*sides: Measurement, detail: Detail = "counts", phase: str = "", total: int | None = None) -> Watch:
    """A `Progress` on stderr; single trials are only shown for one side."""
    if detail == "none":
        return iter
    every = sum(side.plan.size for side in sides) if total is None else total
    tally = Tally(every, [side.throttles for side in sides], phase=phase, subject=sides[0].subject)
    single = sides[0] if detail == "trials" and len(sides) == 1 else None
    return lambda evaluations: _watched(evaluations, tally, single)


def _watched(evaluations: Iterator[Evaluation], tally: Tally, single: Measurement | None) -> Iterator[Evaluation]:
    """`single` is the side whose trials get a line each."""
    with _telling(tally) as say:
        tally.begin()
        for evaluation in evaluations:
            tally.add(evaluation)
            if single is not None:
                say(terminal_text(single.redact(_line(single.plan.trial(evaluation.position), evaluation))))
            yield evaluation


def _status(evaluation: Evaluation) -> Outcome:
    return without_answer(turn.response.problem for turn in evaluation.trace.turns) or status_of(
        evaluation.results
    )


def _line(trial: Trial, evaluation: Evaluation) -> str:
    """One trial: its case, and which checks failed or why there is no answer, without content."""
    results = evaluation.results
    wrong = [result.id for result in results if result.outcome is Outcome.FAILED]
    wrong += dict.fromkeys(result.error.code for result in results if result.error is not None)
    attempt = phrase(trial.attempt > 1, f" run {trial.attempt}")
    text = f"{OUTCOME_MARKS[_status(evaluation)]} {one_line(trial.case.key, 60)}{attempt}"
    return f"{text}  {one_line(', '.join(wrong), 120)}" if wrong else text


def _telling(tally: Tally) -> AbstractContextManager[Say]:
    """Shows the tally while the run goes on; yields a function that prints a further line."""
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") not in WITHOUT_CURSOR:
        return _bar(tally)
    return _group(tally) if os.environ.get("GITHUB_ACTIONS") else lines(tally, LINE_EVERY_S)


class Tally:
    """The finished part of a run, its results, and an estimate of the rest."""

    def __init__(self, total: int, throttles: list[Throttles], *, phase: str = "", subject: str = "") -> None:
        self.total = total
        self.phase = phase
        self.subject = subject
        self.done = self.passed = self.failed = self.errored = 0
        self._throttles = throttles
        self._known_usd: float | None = None  # of target and judge together
        self._unknown = False
        self._ends: deque[float] = deque()

    def begin(self) -> None:
        """The first trial has started."""
        self._ends = deque([time.monotonic()], maxlen=PACE_OF)

    def add(self, evaluation: Evaluation) -> None:
        """Counts one trial."""
        results, status = evaluation.results, _status(evaluation)
        self.done += 1
        self.passed += status is Outcome.PASSED
        self.failed += status is Outcome.FAILED
        self.errored += status is Outcome.ERRORED
        self._ends.append(time.monotonic())
        answered = [turn.response for turn in evaluation.trace.turns if turn.response.problem is None]
        costs = [response.cost_usd for response in answered]
        costs += [result.cost_usd for result in results if result.judge_model is not None]
        self._unknown |= None in costs
        self._known_usd = total(known([self._known_usd, *costs]))

    @property
    def counts(self) -> str:
        """The results of the trials and their cost; a sum with unknown parts is a minimum."""
        parts = (
            f"{self.passed} passed",
            f"{self.failed} failed",
            phrase(self.errored, "{} not measured"),
            phrase(if_known(money, self._known_usd), "≥ {}" if self._unknown else "{}"),
        )
        return ", ".join(filter(None, parts))

    @property
    def left(self) -> str:
        """ "0:42 left", at the pace of the newest trials; empty while it is unknown."""
        ends = self._ends
        if len(ends) < 2 or self.done >= self.total:
            return ""
        return f"{_clock((time.monotonic() - ends[0]) / (len(ends) - 1) * (self.total - self.done))} left"

    @property
    def waiting(self) -> str:
        """The host that calls are waiting for, and how long; empty if they are not."""
        waits = known(throttles.longest_wait() for throttles in self._throttles)
        if not waits:
            return ""
        host, left_s = max(waits, key=lambda wait: wait[1])
        return f"throttled: waits {math.ceil(left_s)} s for {host}"

    def __str__(self) -> str:
        phase = phrase(self.phase, "{}: ")
        parts = [f"{phase}{self.done} of {plural(self.total, 'trial')} done", self.counts, self.left, self.waiting]
        return " · ".join(filter(None, (", ".join(filter(None, parts)), self.subject)))


def _clock(left_s: float) -> str:
    minutes, rest = divmod(round(left_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


_say: Say = partial(say, err=True)


@contextmanager
def lines(tally: Tally, every_s: float) -> Iterator[Say]:
    """Prints a line on stderr every `every_s` seconds, with or without progress."""
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(every_s):
            _say(str(tally))

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield _say
    finally:
        ended.set()
        thread.join()


@contextmanager
def _group(tally: Tally) -> Iterator[Say]:
    """The lines of a job's log, in a folded group."""
    trials = f"{phrase(tally.phase, '{}: ')}{plural(tally.total, 'trial')}"
    click.echo(group_command(" · ".join(filter(None, (trials, tally.subject)))), err=True)
    try:
        with lines(tally, LINE_EVERY_S) as say:
            yield say
    finally:
        _say(str(tally))
        click.echo("::endgroup::", err=True)


@contextmanager
def _bar(tally: Tally) -> Iterator[Say]:
    from rich.console import Console  # 80 ms that only a terminal pays
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    with Live(
        get_renderable=lambda: _drawn(tally, console),
        console=console,
        refresh_per_second=1 / BAR_EVERY_S,
        transient=True,
    ):
        yield lambda line: console.print(Text(line))  # above the bar


def _drawn(tally: Tally, console: Console) -> RenderableType:
    """What the run is of, the bar with its numbers, and while calls wait for a host, that."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    words = "  ".join(filter(None, [f"{tally.done}/{tally.total} {tally.counts}", tally.left]))
    room = min(40, console.width // 5, console.width - len(phrase(tally.phase, "{} ")) - len(words) - 2)
    line = Table.grid(padding=(0, 1, 0, 0))
    bar = [ProgressBar(total=max(tally.total, 1), completed=tally.done, width=room)] if room >= 8 else []
    line.add_row(*map(Text, filter(None, [tally.phase])), *bar, Text(words))
    waiting = terminal_text(tally.waiting)
    above = [Text(tally.subject, style="dim", no_wrap=True, overflow="ellipsis")] if tally.subject else []
    return Group(*above, line, *[Text(waiting, style="yellow")] if waiting else [])
