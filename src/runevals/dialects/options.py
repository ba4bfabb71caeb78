"""What a dialect is told beside the file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """`evaluators` are those that the run names for rows; `evaluate_only` scores the suite's own responses."""

    evaluators: tuple[str, ...] = ()
    evaluate_only: bool = False
