"""Outputs: one a module, each renders a conclusion into text."""

from __future__ import annotations

from typing import Protocol

from runevals.records import Conclusion
from runevals.reporters import html, junit, results, summary, table

__all__ = ["REPORTERS", "Reporter", "reporter_for"]


class Reporter(Protocol):
    """One output format."""

    NAME: str
    FILENAME: str
    """Its usual file name; the suffix tells `--output` which reporter is meant."""

    def render(self, conclusion: Conclusion) -> str:
        """The whole text of the file."""


REPORTERS: tuple[Reporter, ...] = (results, html, junit, table, summary)


def reporter_for(filename: str) -> Reporter | None:
    """The reporter whose files have this suffix, None if none has."""
    for reporter in REPORTERS:
        if filename.lower().endswith(reporter.FILENAME[reporter.FILENAME.rindex(".") :]):
            return reporter
    return None
