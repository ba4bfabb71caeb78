"""Votes of judges → how far they agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from runevals.lib.statistics.agreement import krippendorff_alpha
from runevals.records import CaseReport, CheckResult, VoteAgreement

CONTESTED = 0.5  # of the scale, between the lowest and the highest vote: two steps of 1–5


def vote_agreement(cases: Sequence[CaseReport]) -> tuple[VoteAgreement, ...]:
    """One entry for each evaluator whose checks were voted on."""
    voted: dict[str, list[CheckResult]] = defaultdict(list)
    for case in cases:
        for result in _results(case):
            if len(votes_of(result)) > 1:
                voted[result.id].append(result)
    return tuple(
        VoteAgreement(
            evaluator=name,
            checks=len(results),
            alpha=krippendorff_alpha(votes_of(result) for result in results),
            contested=sum(_contested(result) for result in results),
        )
        for name, results in voted.items()
    )


def votes_of(result: CheckResult) -> list[float]:
    """The votes that were given, on the evaluator's own scale."""
    votes = result.details.get("votes", ())
    return [float(vote) for vote in votes if vote is not None] if isinstance(votes, list | tuple) else []


def _contested(result: CheckResult) -> bool:
    votes, (low, high) = votes_of(result), result.scale
    return high is not None and max(votes) - min(votes) >= CONTESTED * (high - low)


def _results(case: CaseReport) -> Iterator[CheckResult]:
    return (result for attempt in case.attempts for turn in attempt.turns for result in turn.results)
