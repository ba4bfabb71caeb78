"""How `runevals doctor` prints the result of a check."""

from __future__ import annotations

import click

from runevals.lib.diagnosis import Diagnosis
from runevals.lib.terminal import fitted, say, terminal_text

_INDENT = " " * 12
_COLOURS = {"✓": "green", "✗": "red", "–": "yellow"}


def print_finding(finding: Diagnosis) -> None:
    """Prints the result, with its fix on another line."""
    first, *rest = fitted(terminal_text(f"{_INDENT}{finding.text}"))
    fix = [] if finding.fix is None else fitted(terminal_text(f"    → {finding.fix}"))
    click.secho(finding.mark, fg=_COLOURS[finding.mark], nl=False)
    say("\n".join([f" {finding.name:<9} {first[len(_INDENT) :]}", *rest, *fix]))
