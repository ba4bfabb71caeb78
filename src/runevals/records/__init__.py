"""The nouns of runevals: frozen records that every stage takes and returns."""

# ruff: noqa: F403 - a record is named once, where it is defined

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runevals.records.blame import *
    from runevals.records.causes import *
    from runevals.records.comparison import *
    from runevals.records.conclusion import *
    from runevals.records.outcome import *
    from runevals.records.problem import *
    from runevals.records.report import *
    from runevals.records.rules import *
    from runevals.records.suite import *
    from runevals.records.trace import *
    from runevals.records.values import *
    from runevals.records.workspace import *

# Each after those that it imports: what a name's module needs is loaded, and little else.
_MODULES = (
    "problem",
    "outcome",
    "values",
    "workspace",
    "trace",
    "suite",
    "rules",
    "report",
    "blame",
    "causes",
    "comparison",
    "conclusion",
)


def __getattr__(name: str) -> object:
    """A record, loaded when it is used: defining all of them takes a fifth of a short command."""
    for module in _MODULES:
        records = vars(import_module(f"runevals.records.{module}"))
        if name in records:
            return globals().setdefault(name, records[name])
    raise AttributeError(f"module 'runevals.records' has no attribute '{name}'")
