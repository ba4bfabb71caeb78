"""Human scores + a judge's scores → how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct

from runevals.lib.nullable import grouped
from runevals.lib.statistics.agreement import (
    Estimate,
    Pairs,
    estimate,
    krippendorff_alpha,
    mean_shift,
    pearson,
    weighted_kappa,
)
from runevals.records import CheckResult, RunReport

RELIABLE, TENTATIVE = 0.80, 0.667  # Krippendorff's bands for alpha
FEWEST = 50  # answers; with fewer, the intervals are too wide

People = tuple[float, ...]


class Calibration(Struct, frozen=True, kw_only=True):
    """The judge of one evaluator compared with the median of human scores, on the evaluator's own scale."""

    evaluator: str
    answers: int
    judged: int
    kappa: Estimate  # quadratic weights
    alpha: Estimate  # Krippendorff's, ordinal
    pearson: Estimate
    shift: Estimate  # judge − people
    people_alpha: float | None  # agreement between people; None if each answer has one score
    people_scores: Mapping[float, int]  # human score → how many
    errors: Mapping[str, int]  # error code or reason → answers without a judgement

    @property
    def band(self) -> str:
        """Krippendorff's band for alpha."""
        if self.alpha.value is None:
            return "unknown: all scores are equal" if self.judged else "unknown: nothing was judged"
        if self.alpha.value >= RELIABLE:
            return "reliable"
        return "tentative" if self.alpha.value >= TENTATIVE else "not to gate on"


def calibrations(report: RunReport, scores: Mapping[str, People]) -> tuple[Calibration, ...]:
    """One entry for each evaluator; `scores` are people's, by case key."""
    results = ((case.key, case.attempts[0].turns[0].results[0]) for case in report.cases)
    results_by_evaluator = grouped((result.id, (scores[key], result)) for key, result in results)
    return tuple(_calibration(name, results) for name, results in sorted(results_by_evaluator.items()))


def _calibration(name: str, results: Sequence[tuple[People, CheckResult]]) -> Calibration:
    pairs: Pairs = [(median(people), result.value) for people, result in results if result.value is not None]
    unjudged = [result for _, result in results if result.value is None]
    errors = Counter(result.error.code if result.error else result.reason for result in unjudged)
    several = [people for people, _ in results if len(people) > 1]
    return Calibration(
        evaluator=name,
        answers=len(results),
        judged=len(pairs),
        kappa=estimate(pairs, weighted_kappa),
        alpha=estimate(pairs, krippendorff_alpha),
        pearson=estimate(pairs, pearson),
        shift=estimate(pairs, mean_shift),
        people_alpha=krippendorff_alpha(several) if several else None,
        people_scores=dict(sorted(Counter(score for people, _ in results for score in people).items())),
        errors=dict(errors.most_common()),
    )
