"""The final output of a command: the verdict, and problems of suites."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

import click

from runevals.github.annotations import warning_command
from runevals.lib.terminal import fitted, on_screen, say, terminal_text
from runevals.lib.text.secrets import redactor
from runevals.records import Conclusion, FileProblem
from runevals.records.problem import errors_first
from runevals.reports import console

_COLOURS = {"passed": "green", "failed": "red", "unmeasured": "yellow", "skipped": "yellow"}
MOST_WARNINGS = 20


def tell(conclusion: Conclusion) -> None:
    """Prints the final screen."""
    text = terminal_text(console.render(conclusion))
    first, *rest = fitted(text)
    colour = _COLOURS[conclusion.verdict.outcome]
    say(first, colour=colour)
    say("\n".join(rest))
    if on_screen() and len(rest) > shutil.get_terminal_size().lines - 3:  # the verdict has scrolled off the screen
        say(f"\n{first}", colour=colour)


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
        click.echo(warning_command(redacted))
    else:
        say(f"Warning: {redacted}", err=True)
