"""Outputs: one a module, each renders a conclusion into text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from runevals.records import Conclusion
from runevals.reporters import html, junit, results, summary, table

__all__ = ["REPORTERS", "Reporter", "reporter_for", "text_of"]


class Reporter(Protocol):
    """One output format."""

    NAME: str
    FILENAME: str
    """Its usual file name; the suffix tells `--output` which reporter is meant."""

    def render(self, conclusion: Conclusion) -> str:
        """The whole text of the file."""


@runtime_checkable
class Streaming(Reporter, Protocol):
    """An output that may be too large to be held in memory whole."""

    def stream(self, conclusion: Conclusion) -> Iterator[str]:
        """The text of `render`, piece by piece."""


REPORTERS: tuple[Reporter, ...] = (results, html, junit, table, summary)


def text_of(reporter: Reporter, conclusion: Conclusion) -> Iterator[str]:
    """What the reporter writes, in as many pieces as it can."""
    return reporter.stream(conclusion) if isinstance(reporter, Streaming) else iter((reporter.render(conclusion),))


def reporter_for(filename: str) -> Reporter | None:
    """The reporter whose files have this suffix, None if none has."""
    for reporter in REPORTERS:
        if filename.lower().endswith(reporter.FILENAME[reporter.FILENAME.rindex(".") :]):
            return reporter
    return None
