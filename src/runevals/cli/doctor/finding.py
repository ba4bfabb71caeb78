"""The result of one check of the doctor."""

from __future__ import annotations

from typing import Literal

import click
from msgspec import Struct

from runevals.lib.terminal import fitted, say, terminal_text
from runevals.lib.text.numbers import plural
from runevals.records.errors import PASSED, RunevalsError

_INDENT = " " * 12
_COLOURS = {"✓": "green", "✗": "red", "–": "yellow"}


class Diagnosis(Struct, frozen=True, kw_only=True):
    """The result of a check. `exit_code` is that of a run without it: 0 if it would still work."""

    name: str
    mark: Literal["✓", "✗", "–"]
    text: str
    fix: str | None = None
    exit_code: int = PASSED


def good(name: str, text: str) -> Diagnosis:
    """It is available."""
    return Diagnosis(name=name, mark="✓", text=text)


def neither(name: str, text: str, fix: str | None = None) -> Diagnosis:
    """It is not needed, or unknown."""
    return Diagnosis(name=name, mark="–", text=text, fix=fix)


def missing(name: str, text: str, fix: str, exit_code: int) -> Diagnosis:
    """It is missing; a run would end with `exit_code`."""
    return Diagnosis(name=name, mark="✗", text=text, fix=fix, exit_code=exit_code)


def stopped(name: str, error: RunevalsError, fix: str) -> Diagnosis:
    """A run would end with this error."""
    first, *rest = str(error).splitlines()
    more = f" (and {plural(len(rest), 'more line')})" if rest else ""
    return Diagnosis(name=name, mark="✗", text=first + more, fix=fix, exit_code=error.exit_code)


def print_finding(finding: Diagnosis) -> None:
    """Prints the result, with its fix on another line."""
    first, *rest = fitted(terminal_text(f"{_INDENT}{finding.text}"))
    fix = [] if finding.fix is None else fitted(terminal_text(f"    → {finding.fix}"))
    click.secho(finding.mark, fg=_COLOURS[finding.mark], nl=False)
    say("\n".join([f" {finding.name:<9} {first[len(_INDENT) :]}", *rest, *fix]))
