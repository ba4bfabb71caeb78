"""What a run says while it runs and when it is done."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from runevals.inert import log_text, visible
from runevals.records import Conclusion, Outcome, SuiteProblem
from runevals.redact import redactor
from runevals.wording import money, plural

if TYPE_CHECKING:
    from runevals.evaluate import Evaluation
    from runevals.pipeline import Watch

LINE_EVERY_S = 30.0
_COLOURS = {"passed": "green", "failed": "red", "unmeasured": "yellow", "skipped": "yellow"}
MOST_WARNINGS = 20


def at_terminal() -> bool:
    """Whether somebody is there to be asked: never in CI, nor where input or output is no terminal."""
    return not os.environ.get("CI") and all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _on_screen() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def tell(conclusion: Conclusion) -> None:
    """Prints the last screen."""
    from runevals.reporters import console

    text = shown(console.render(conclusion))
    first, *rest = fitted(text)
    colour = _COLOURS[conclusion.verdict.outcome]
    click.secho(first, fg=colour, bold=True)
    click.echo("\n".join(rest))
    if _on_screen() and len(rest) > shutil.get_terminal_size().lines - 3:  # the verdict has left the screen
        click.secho(f"\n{first}", fg=colour, bold=True)


def fitted(text: str) -> list[str]:
    """The lines of `text`, at a terminal broken between words to its width."""
    return broken(text, shutil.get_terminal_size().columns) if _on_screen() else text.splitlines()


def broken(text: str, columns: int) -> list[str]:
    """The lines of `text`, long ones broken between words; what is broken off stands further in."""
    lines: list[str] = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        wrapped = textwrap.wrap(
            line, max(columns, 40), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        lines += wrapped or [""]
    return lines


def warn(problems: Sequence[SuiteProblem]) -> None:
    """Prints warnings and notices of suites to stderr."""
    for problem in problems[:MOST_WARNINGS]:
        click.echo(shown(str(problem)), err=True)
    if len(problems) > MOST_WARNINGS:
        click.echo(f"… and {len(problems) - MOST_WARNINGS} more (runevals validate shows all)", err=True)


def warn_runner(text: str) -> None:
    """Shows a warning on the job's page, elsewhere on stderr."""
    from runevals.github.annotations import warning_command

    told = redactor(os.environ)(text)
    if os.environ.get("GITHUB_ACTIONS"):
        click.echo(warning_command(told))
    else:
        click.echo(shown(f"Warning: {told}"), err=True)


def progress(total: int, *, quiet: bool) -> Watch:
    """What to wrap the evaluations in: a bar at a terminal, else a line now and then, nothing if `quiet`."""
    if quiet:
        return iter
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return lambda evaluations: _bar(evaluations, total)
    return lambda evaluations: _lines(evaluations, total)


def _bar(evaluations: Iterator[Evaluation], total: int) -> Iterator[Evaluation]:
    from rich.console import Console  # 80 ms that only a terminal pays
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console, counts = Console(stderr=True), _Counts()
    columns = (
        BarColumn(bar_width=min(40, console.width // 5)),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(str(counts), total=total)
        for evaluation in evaluations:
            counts.add(evaluation)
            bar.update(task, advance=1, description=str(counts))
            yield evaluation


def _lines(evaluations: Iterator[Evaluation], total: int) -> Iterator[Evaluation]:
    counts = _Counts()
    told = time.monotonic()
    for evaluation in evaluations:
        counts.add(evaluation)
        if time.monotonic() - told >= LINE_EVERY_S:
            told = time.monotonic()
            click.echo(f"{counts.done} of {plural(total, 'trial')} done, {counts}", err=True)
        yield evaluation


class _Counts:
    def __init__(self) -> None:
        self.done = self.passed = self.failed = self.errored = 0
        self.cost_usd: float | None = None  # of target and judge, as far as it is known

    def add(self, evaluation: Evaluation) -> None:
        from runevals.score import status_of

        self.done += 1
        status = status_of([result for turn in evaluation.turns for result in turn])
        self.passed += status is Outcome.PASSED
        self.failed += status is Outcome.FAILED
        self.errored += status is Outcome.ERRORED
        costs = [turn.response.cost_usd for turn in evaluation.trace.turns]
        costs += [result.cost_usd for turn in evaluation.turns for result in turn]
        for cost in costs:
            if cost is not None:
                self.cost_usd = (self.cost_usd or 0.0) + cost

    def __str__(self) -> str:
        told = [f"{self.passed} passed", f"{self.failed} failed"]
        told += [f"{self.errored} not measured"] if self.errored else []
        told += [] if self.cost_usd is None else [money(self.cost_usd)]
        return ", ".join(told)


def shown(text: str) -> str:
    """`text` for terminal and log: no secrets, and nothing that moves the cursor or commands a GitHub runner."""
    plain = visible(redactor(os.environ)(text))
    return log_text(plain) if os.environ.get("GITHUB_ACTIONS") else plain
