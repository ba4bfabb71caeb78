"""Votes of judges → how far they agree."""

from __future__ import annotations

from collections import Counter, defaultdict

from runevals.lib.statistics.agreement import krippendorff_alpha
from runevals.records import CheckResult, VoteAgreement

CONTESTED = 0.5  # of the scale, between the lowest and the highest vote: two steps of 1–5


class Votes:
    """The votes on the checks of a run, by evaluator."""

    def __init__(self) -> None:
        self._votes: dict[str, list[list[float]]] = defaultdict(list)
        self._contested: Counter[str] = Counter()

    def add(self, result: CheckResult) -> None:
        """Adds the votes on one check, if there are several."""
        if result.details and len(votes := votes_of(result)) > 1:
            self._votes[result.id].append(votes)
            low, high = result.scale
            self._contested[result.id] += high is not None and max(votes) - min(votes) >= CONTESTED * (high - low)

    def agreement(self) -> tuple[VoteAgreement, ...]:
        """One entry for each evaluator whose checks were voted on."""
        return tuple(
            VoteAgreement(
                evaluator=name, checks=len(votes), alpha=krippendorff_alpha(votes), contested=self._contested[name]
            )
            for name, votes in self._votes.items()
        )


def votes_of(result: CheckResult) -> list[float]:
    """The votes that were given, on the evaluator's own scale."""
    votes = result.details.get("votes", ())
    return [float(vote) for vote in votes if vote is not None] if isinstance(votes, list | tuple) else []
