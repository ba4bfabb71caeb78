"""The results of the checks of `runevals doctor`: that of an error, and how all are printed."""

from __future__ import annotations

import click

from runevals.lib.terminal import fitted, say, terminal_text
from runevals.lib.text.numbers import phrase, plural
from runevals.records.diagnosis import Diagnosis
from runevals.records.errors import RunevalsError

_INDENT = " " * 12
_COLOURS = {"✓": "green", "✗": "red", "–": "yellow"}


def stopped(name: str, error: RunevalsError, fix: str) -> Diagnosis:
    """A run would end with this error."""
    first, *rest = str(error).splitlines()
    more = phrase(rest, f" (and {plural(len(rest), 'more line')})")
    return Diagnosis(name=name, mark="✗", text=first + more, fix=fix, exit_code=error.exit_code)


def print_finding(finding: Diagnosis) -> None:
    """Prints the result, with its fix on another line."""
    first, *rest = fitted(terminal_text(f"{_INDENT}{finding.text}"))
    fix = fitted(terminal_text(phrase(finding.fix, "    → {}")))
    click.secho(finding.mark, fg=_COLOURS[finding.mark], nl=False)
    say("\n".join([f" {finding.name:<9} {first[len(_INDENT) :]}", *rest, *fix]))
