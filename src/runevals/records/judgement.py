"""Questions to a judge, and its judgements."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from runevals.records import Problem, Scale
from runevals.records.outcome import ONE_TO_FIVE


class Question(Struct, frozen=True, kw_only=True, gc=False):
    """A question to a judge. `parts` are data, never instructions: (label, text) in order."""

    evaluator: str
    instructions: str
    parts: tuple[tuple[str, str], ...]
    scale: Scale = ONE_TO_FIVE
    score_key: str = "score"  # what the reply calls it
    dimensions: tuple[str, ...] = ()  # scores of parts, beside it
    model: str | None = None  # to ask instead of the judge's own


class Vote(Struct, frozen=True, kw_only=True, gc=False):
    """One of several judgements; `score` is None if it failed."""

    judge: str
    score: float | None


class Judgement(Struct, frozen=True, kw_only=True, gc=False):
    """A judge's reply: a score on the question's scale, or a problem."""

    score: float | None
    reason: str = ""
    model: str | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    problem: Problem | None = None
    dimensions: Mapping[str, float] = {}  # those that the reply has
    votes: tuple[Vote, ...] = ()  # if it is the median of several
    cached: bool = False  # from the cache, and free
