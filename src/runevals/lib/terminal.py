"""What a run says when it is done, and what to mind in its suites."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

import click

from runevals.lib.text.escape import log_text, visible
from runevals.lib.text.secrets import redactor
from runevals.records import Conclusion, SuiteProblem

_COLOURS = {"passed": "green", "failed": "red", "unmeasured": "yellow", "skipped": "yellow"}
MOST_WARNINGS = 20


def at_terminal() -> bool:
    """Whether somebody is there to be asked: never in CI, nor where input or output is no terminal."""
    return not os.environ.get("CI") and all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _on_screen() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def tell(conclusion: Conclusion) -> None:
    """Prints the last screen."""
    from runevals.reports import console

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


def shown(text: str) -> str:
    """`text` for terminal and log: no secrets, and nothing that moves the cursor or commands a GitHub runner."""
    plain = visible(redactor(os.environ)(text))
    return log_text(plain) if os.environ.get("GITHUB_ACTIONS") else plain
