"""Terminal output: detection, width and escaping."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

import click

from runevals.lib.ci import in_ci
from runevals.lib.text.escape import log_text, visible
from runevals.lib.text.secrets import redactor


def at_terminal() -> bool:
    """Whether a user can be asked: not in CI, and not if input or output is not a terminal."""
    return not in_ci(os.environ) and all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))


def on_screen() -> bool:
    """Whether output is shown on a screen."""
    return sys.stdout is not None and sys.stdout.isatty()


def fitted(text: str) -> list[str]:
    """The lines of `text`, at a terminal broken between words to its width."""
    return broken(text, shutil.get_terminal_size().columns) if on_screen() else text.splitlines()


def broken(text: str, columns: int) -> list[str]:
    """The lines of `text`, long ones wrapped between words, with an indent."""
    lines: list[str] = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        wrapped = textwrap.wrap(
            line, max(columns, 40), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        lines += wrapped or [""]
    return lines


def terminal_text(text: str) -> str:
    """`text` for terminal and log: no secrets, no control characters, in a log no commands for its CI system."""
    plain, is_log = visible(redactor(os.environ)(text)), not on_screen() or in_ci(os.environ)
    return log_text(plain) if is_log else plain


def say(text: str = "", *, err: bool = False, colour: str | None = None, bold: bool = True) -> None:
    """Prints lines, to stderr with `err`; with a colour bold, unless `bold` is off. `text` may be untrusted.

    Once the reader has gone, as `head` does, nothing is printed: that changes no verdict.
    """
    try:
        click.secho(terminal_text(text), err=err, fg=colour, bold=True if colour and bold else None)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, (sys.stderr if err else sys.stdout).fileno())
        os.close(nowhere)


def confirmed(question: str) -> bool:
    """Whether the user says yes; without an answer, no."""
    return click.confirm(terminal_text(question), default=False, err=True)


def notice(text: str) -> None:
    """Prints a notice to stderr."""
    say(text, err=True)
