"""Several judgements of one question → one: their median, with every one of them recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import TypeVar

from runevals.evaluators.kinds import Judgement, Question
from runevals.judge import Judge
from runevals.records import ModelIdentity

Amount = TypeVar("Amount", int, float)


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
        spent = replace(
            found[0],
            cost_usd=_total([judgement.cost_usd for judgement in found]),
            input_tokens=_total([judgement.input_tokens for judgement in found]),
            output_tokens=_total([judgement.output_tokens for judgement in found]),
        )
        if 2 * len(counted) <= len(found):
            problem = next(judgement.problem for judgement in found if judgement.problem is not None)
            return replace(spent, score=None, problem=problem)
        scores = [judgement.score for judgement in counted if judgement.score is not None]
        middle = float(median(scores))
        nearest = min(counted, key=lambda judgement: abs((judgement.score or 0.0) - middle))
        return replace(
            spent,
            score=middle,
            problem=None,
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


def _total(amounts: Sequence[Amount | None]) -> Amount | None:
    """Their sum; unknown where one of them is."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
