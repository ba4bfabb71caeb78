"""A judge scores several dimensions, each by itself; their mean counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.combined.truth import details, error_of
from runevals.evaluators.kinds import Composite, Part
from runevals.records import Layer, Problem, Verdict
from runevals.records.outcome import ONE_TO_FIVE


@evaluator("dimensions")
class Dimensions(Composite):
    """A judge scores each dimension 1–5 in a question of its own; the mean passes from 3.

    If a case has dimensions, they take the place of its rubric.

    Example:
        "dimensions": {"security": "did it find the injection?", "actionability": "can the fix be used as it is?"}
    """

    layer = Layer.JUDGE
    scale = ONE_TO_FIVE
    default_threshold = 3.0

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not self.members:
            yield "dimensions", "dimensions is empty"

    def combine(self, parts: Sequence[Part]) -> Verdict | Problem:
        problem = error_of(parts)
        if problem is not None:
            return problem
        scores = {part.id: 1 + 4 * part.score for part in parts if part.score is not None}
        if not scores:
            return Verdict.skipped(parts[0].reason if parts else "no dimension was judged")
        summary = ", ".join(f"{name} {score:g}" for name, score in scores.items())
        return Verdict(fsum(scores.values()) / len(scores), summary, {"dimensions": scores, **details(parts)})
