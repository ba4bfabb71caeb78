"""The results document, for tools and as the next run's baseline."""

from __future__ import annotations

from runevals.document import write as render

__all__ = ["FILENAME", "NAME", "render"]

NAME = "results"
FILENAME = "results.json"
