"""Several judgements of one question → their median, with every vote recorded."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from statistics import median

from msgspec.structs import replace

from runevals.judge.model import Judge
from runevals.lib.nullable import total, whole_total
from runevals.records import ModelIdentity
from runevals.records.judgement import Judgement, Question, Vote


class Panel:
    """Asks each voter in turn and takes the median of their scores.

    If half of the voters or more fail, the judgement is the problem of the first failure. So it is if the votes of
    different judges that failed could change the median: one judge is milder than another.
    """

    def __init__(self, voters: Sequence[Judge]) -> None:
        """`voters` are different judges, or one model with different seeds."""
        self._voters = voters
        self._names = [one.model or one.type for one in (voter.identity() for voter in voters)]

    def ask(self, question: Question, *, case: str, turn: int, attempt: int) -> Judgement:
        """The median judgement. Raises JudgeRefused when no further call can succeed."""
        judgements = [voter.ask(question, case=case, turn=turn, attempt=attempt) for voter in self._voters]
        scored = [(judgement.score, judgement) for judgement in judgements if judgement.score is not None]
        replied = [judgement for judgement in judgements if judgement.model is not None]
        spent = Judgement(
            score=None,
            model=", ".join(dict.fromkeys(judgement.model or "" for judgement in replied)) or None,
            cost_usd=total(judgement.cost_usd for judgement in replied),
            input_tokens=whole_total(judgement.input_tokens for judgement in replied),
            output_tokens=whole_total(judgement.output_tokens for judgement in replied),
            cached=all(judgement.cached for judgement in judgements),
        )
        scores = [score for score, _ in scored]
        failed = len(judgements) - len(scores)
        medians = {median([*scores, *[failed_vote] * failed]) for failed_vote in (-inf, inf)}
        if failed >= len(scores) or (len(set(self._names)) > 1 and len(medians) > 1):
            problem = next(judgement.problem for judgement in judgements if judgement.problem is not None)
            return replace(spent, problem=problem)
        middle = float(median(scores))
        _, nearest = min(scored, key=lambda pair: abs(pair[0] - middle))
        return replace(
            spent,
            score=middle,
            reason=nearest.reason,
            dimensions=nearest.dimensions,
            votes=tuple(
                Vote(judge=name, score=vote.score) for name, vote in zip(self._names, judgements, strict=True)
            ),
        )

    def identity(self) -> ModelIdentity:
        """All voters as one identity, and how many votes each judge has."""
        identities = [voter.identity() for voter in self._voters]
        votes, first = {name: self._names.count(name) for name in self._names}, identities[0]
        return replace(
            first,
            type=" + ".join(dict.fromkeys(identity.type for identity in identities)),
            model=" + ".join(votes),
            reported=tuple(sorted({model for identity in identities for model in identity.reported})),
            detail={
                **(first.detail if len(votes) == 1 else {}),
                "votes": len(identities),
                **({"judges": votes} if len(votes) > 1 else {}),
            },
        )
