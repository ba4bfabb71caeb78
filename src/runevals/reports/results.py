"""The results document, for tools and as the next run's baseline."""

from __future__ import annotations

from runevals.reports.results_document import write as render
from runevals.reports.results_document import written as stream

__all__ = ["FILENAME", "NAME", "render", "stream"]

NAME = "results"
FILENAME = "results.json"
