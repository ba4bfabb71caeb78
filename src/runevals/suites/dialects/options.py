"""What a dialect is told beside the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runevals.records import EvaluatorSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """`evaluators` are those that the run names for rows; `evaluate_only` scores the suite's own responses.

    `definitions` are the evaluators that the settings declare, by their ids.
    """

    evaluators: tuple[str, ...] = ()
    definitions: Mapping[str, EvaluatorSpec] = field(default_factory=dict)
    evaluate_only: bool = False
    root: Path = field(default_factory=Path.cwd)  # the repository, out of which no path of a suite may lead
    folder: Path | None = None  # the suite file's own
    found_in: str = ""  # the name of the folder in which the file, or a link to it, was found
