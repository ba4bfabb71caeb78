"""What was found of one thing that a run needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click

from runevals.lib.terminal import fitted, say, terminal_text
from runevals.lib.text.numbers import plural
from runevals.records.errors import PASSED, RunevalsError

_INDENT = " " * 12
_COLOURS = {"✓": "green", "✗": "red", "–": "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One thing that was looked at. `exit_code` is that of a run without it: 0 where it would still work."""

    name: str
    mark: Literal["✓", "✗", "–"]
    told: str
    fix: str | None = None
    exit_code: int = PASSED


def good(name: str, told: str) -> Diagnosis:
    """It is there."""
    return Diagnosis(name=name, mark="✓", told=told)


def neither(name: str, told: str, fix: str | None = None) -> Diagnosis:
    """It is not needed, or not known."""
    return Diagnosis(name=name, mark="–", told=told, fix=fix)


def missing(name: str, told: str, fix: str, exit_code: int) -> Diagnosis:
    """It is not there; a run without it would end with `exit_code`."""
    return Diagnosis(name=name, mark="✗", told=told, fix=fix, exit_code=exit_code)


def stopped(name: str, error: RunevalsError, fix: str) -> Diagnosis:
    """A run would end with this error."""
    first, *rest = str(error).splitlines()
    more = f" (and {plural(len(rest), 'more line')})" if rest else ""
    return Diagnosis(name=name, mark="✗", told=first + more, fix=fix, exit_code=error.exit_code)


def tell_finding(found: Diagnosis) -> None:
    """Prints it: a line, and one for its fix."""
    first, *rest = fitted(terminal_text(f"{_INDENT}{found.told}"))
    fix = [] if found.fix is None else fitted(terminal_text(f"    → {found.fix}"))
    click.secho(found.mark, fg=_COLOURS[found.mark], nl=False)
    say("\n".join([f" {found.name:<9} {first[len(_INDENT) :]}", *rest, *fix]))
