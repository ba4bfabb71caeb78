"""Several judgements of one question → one: their median, with every one of them recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from runevals.amounts import total, whole_total
from runevals.evaluators.kinds import Judgement, Question
from runevals.judge import Judge
from runevals.records import ModelIdentity


class Panel:
    """Asks every voter, one after the other, and takes the median of their scores.

    Where half of the voters or more fail, there is no score but the first failure's problem.
    """

    def __init__(self, voters: Sequence[Judge]) -> None:
        """`voters` ask the same model with seeds of their own."""
        self._voters = voters

    def ask(self, question: Question, *, case: str, turn: int) -> Judgement:
        """The median judgement. Raises JudgeRefused when no further call can succeed."""
        found = [voter.ask(question, case=case, turn=turn) for voter in self._voters]
        counted = [judgement for judgement in found if judgement.score is not None]
        replied = [judgement for judgement in found if judgement.model is not None]
        spent = Judgement(
            score=None,
            model=replied[0].model if replied else None,
            cost_usd=total(judgement.cost_usd for judgement in replied),
            input_tokens=whole_total(judgement.input_tokens for judgement in replied),
            output_tokens=whole_total(judgement.output_tokens for judgement in replied),
        )
        if 2 * len(counted) <= len(found):
            problem = next(judgement.problem for judgement in found if judgement.problem is not None)
            return replace(spent, problem=problem)
        scores = [judgement.score for judgement in counted if judgement.score is not None]
        middle = float(median(scores))
        nearest = min(counted, key=lambda judgement: abs((judgement.score or 0.0) - middle))
        return replace(
            spent,
            score=middle,
            model=nearest.model,
            reason=nearest.reason,
            votes=tuple(judgement.score for judgement in found),
        )

    def identity(self) -> ModelIdentity:
        """The voters' model, and how many votes there are."""
        identities = [voter.identity() for voter in self._voters]
        first = identities[0]
        return replace(
            first,
            reported=tuple(sorted({model for identity in identities for model in identity.reported})),
            detail={**first.detail, "votes": len(identities)},
        )
