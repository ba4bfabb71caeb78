"""The result of one check before a run: whether something that the run needs is there, and how to get it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from runevals.records.errors import PASSED


class Diagnosis(Struct, frozen=True, kw_only=True):
    """The result of a check. `exit_code` is that of a run without it: 0 if it would still work."""

    name: str
    mark: Literal["✓", "✗", "–"]
    text: str
    fix: str | None = None
    exit_code: int = PASSED


def good(name: str, text: str) -> Diagnosis:
    """A finding that something is available."""
    return Diagnosis(name=name, mark="✓", text=text)


def neither(name: str, text: str, fix: str | None = None) -> Diagnosis:
    """A finding that something is not needed, or unknown."""
    return Diagnosis(name=name, mark="–", text=text, fix=fix)


def missing(name: str, text: str, fix: str, exit_code: int) -> Diagnosis:
    """A finding that something is missing; a run would end with `exit_code`."""
    return Diagnosis(name=name, mark="✗", text=text, fix=fix, exit_code=exit_code)
