"""Several evaluators, made one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import Literal

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.combined.truth import details, error_of, in_words, settled
from runevals.evaluators.kinds import Composite, Part
from runevals.records import Outcome, Problem, Verdict

PASS_FROM = 0.6


@evaluator("composite")
class CompositeEvaluator(Composite):
    """Combines the evaluators that the settings name in `evaluatorIds`. It is declared there, under an id.

    `and` passes when all pass, with the least score; `or` when any does, with the greatest; `weighted_average`
    when Σ weight · score / Σ weight reaches 0.6 or `threshold`. A part without a score counts 1 or 0 by its
    passing; skipped parts are left out. An errored part leaves it errored, unless the others settle it.

    Options:
        aggregation: how the parts become one.
        mode: `parallel` asks all of them; `serial` stops, with `and`, at the first that fails.
        weights: for `weighted_average`, one for each part; 1 each without it.
        pass_from: the weighted average, 0–1, that passes; `threshold` in the settings.

    Example:
        evaluators:
          - {id: dated, type: preset, preset: regex, pattern: "\\\\d{4}-\\\\d{2}-\\\\d{2}"}
          - {id: shipped, type: preset, preset: regex, pattern: shipped}
          - {id: both, type: composite, evaluatorIds: [dated, shipped], aggregation: and}
        passes: The order of 2026-11-20 has shipped.
        fails: The order of 2026-11-20 is late.
    """

    threshold_option = "pass_from"

    aggregation: Literal["and", "or", "weighted_average"] = "and"
    mode: Literal["parallel", "serial"] = "parallel"
    weights: tuple[float, ...] | None = None
    pass_from: float = PASS_FROM

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not 0 < self.pass_from <= 1:
            yield "threshold", f"threshold is {self.pass_from:g}, but must be above 0 and at most 1"
        if self.aggregation != "weighted_average" and self.pass_from != PASS_FROM:
            yield "threshold", f"threshold is of a weighted_average; '{self.aggregation}' has none"
        if not self.members:
            yield "evaluatorIds", "evaluatorIds is empty"
        if self.weights is not None and len(self.weights) != len(self.members):
            message = (
                f"weights has {len(self.weights)} entries for {len(self.members)} evaluators; as many are needed"
            )
            yield "weights", message
        if self.weights is not None and (min(self.weights) < 0 or fsum(self.weights) <= 0):
            yield "weights", "weights must not be negative, and not all 0"

    @property
    def in_order(self) -> bool:
        return self.mode == "serial"

    def enough(self, parts: Sequence[Part]) -> bool:
        return self.mode == "serial" and self.aggregation == "and" and parts[-1].outcome is Outcome.FAILED

    def combine(self, parts: Sequence[Part]) -> Verdict | Problem:
        not_run = [member.id for member in self.members[len(parts) :]]
        scores = [_score(part) for part in parts if part.outcome.measured]
        if self.aggregation == "weighted_average":
            return self._average(parts)
        by, extreme = (Outcome.FAILED, min) if self.aggregation == "and" else (Outcome.PASSED, max)
        passed = settled(parts, by, "part")
        if not isinstance(passed, bool):
            return passed
        return Verdict(extreme(scores), in_words(parts), details(parts, not_run), passed=passed)

    def _average(self, parts: Sequence[Part]) -> Verdict | Problem:
        problem = error_of(parts)
        if problem is not None:
            return problem
        weights = self.weights or (1.0,) * len(parts)
        scored = [
            (weight, _score(part))
            for weight, part in zip(weights, parts, strict=True)
            if part.outcome is not Outcome.SKIPPED
        ]
        total = fsum(weight for weight, _ in scored)
        if not total:
            return Verdict.skipped("every part was skipped")
        score = fsum(weight * share for weight, share in scored) / total
        return Verdict(
            score, f"weighted average {score:.2f}", details(parts), passed=score >= self.pass_from - 1e-12
        )


def _score(part: Part) -> float:
    return float(part.outcome is Outcome.PASSED) if part.score is None else part.score
