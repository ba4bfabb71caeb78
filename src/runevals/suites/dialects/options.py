"""The options of a dialect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from runevals.records import EvaluatorSpec

OptionsByName = Mapping[str, Mapping[str, object]]  # of evaluators


class LoadOptions(Struct, frozen=True, kw_only=True):
    """`evaluators` are those that the run names for rows; `evaluate_only` scores the suite's own responses.

    `definitions` are the evaluators that the settings declare, by their ids. `variables` are those that the prompt
    file of the target uses.
    """

    evaluators: OptionsByName = {}
    definitions: Mapping[str, EvaluatorSpec] = {}
    variables: tuple[str, ...] = ()
    only_prompts: bool = False  # the target is sent prompts, and nothing else of a case
    columns: Mapping[str, str] = field(default_factory=dict)  # of rows, by what they are
    evaluate_only: bool = False
    root: Path = field(default_factory=Path.cwd)  # the repository; no path of a suite may lead out of it
    folder: Path | None = None  # the suite file's own
    folder_name: str = ""  # the name of the folder of the file, or of the link to it
