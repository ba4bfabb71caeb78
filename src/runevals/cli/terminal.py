"""The final output of a command: the verdict, and problems of suites."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from itertools import chain, groupby

import click

from runevals.lib.terminal import fitted, on_screen, say, terminal_text
from runevals.lib.text.secrets import redactor
from runevals.records import Conclusion, FileProblem
from runevals.records.problem import errors_first
from runevals.reports import console
from runevals.reports.next_steps import Where

_COLOURS = {"passed": "green", "failed": "red", "unmeasured": "yellow", "skipped": "yellow"}
_SIDES = {"-": "red", "−": "red", "+": "green"}
MOST_WARNINGS = 20


def tell(conclusion: Conclusion, where: Where | None = None) -> None:
    """Prints the final screen; `where` is where its reader types commands."""
    first, *rest = terminal_text(console.render(conclusion, where)).split("\n")[:-1]
    colour = _COLOURS[conclusion.verdict.outcome]
    headline, *more = fitted(first)
    say(headline, colour=colour)
    pieces = ([line] if line.startswith(console.DIFF) else fitted(line) or [""] for line in rest)
    lines = [*more, *chain.from_iterable(pieces)]
    for side, some in groupby(lines, key=_side_of_line):
        say("\n".join(some), colour=_SIDES.get(side), bold=False)
    if (
        on_screen() and len(lines) > shutil.get_terminal_size().lines - 3
    ):  # the verdict has scrolled off the screen
        say(f"\n{headline}", colour=colour)


def _side_of_line(line: str) -> str:
    """Which side of a difference a line is of: + or −; empty: of none."""
    sign = line.removeprefix(console.DIFF)[:1] if line.startswith(console.DIFF) else line.lstrip()[:2].strip()
    return sign if sign in _SIDES and line.startswith("    ") else ""


def warn(problems: Sequence[FileProblem]) -> None:
    """Prints warnings and notices of suites to stderr, after the errors."""
    for problem in errors_first(problems)[:MOST_WARNINGS]:
        say(str(problem), err=True)
    if len(problems) > MOST_WARNINGS:
        say(f"… and {len(problems) - MOST_WARNINGS} more (runevals validate shows all)", err=True)


def warn_runner(text: str) -> None:
    """Shows a warning on the job's page, elsewhere on stderr."""
    redacted = redactor(os.environ)(text)
    if os.environ.get("GITHUB_ACTIONS"):
        from runevals.github.annotations import warning_command

        click.echo(warning_command(redacted))
    else:
        say(f"Warning: {redacted}", err=True)
