"""Questions to a judge, and its judgements."""

from __future__ import annotations

from runevals.records import Problem, Scale
from runevals.records.outcome import ONE_TO_FIVE
from runevals.records.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a judge. `parts` are data, never instructions: (label, text) in order."""

    evaluator: str
    instructions: str
    parts: tuple[tuple[str, str], ...]
    scale: Scale = ONE_TO_FIVE
    score_key: str = "score"  # what the reply calls it
    model: str | None = None  # to ask instead of the judge's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One of several judgements; `score` is None if it failed."""

    judge: str
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judge's reply: a score on the question's scale, or a problem."""

    score: float | None
    reason: str = ""
    model: str | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    problem: Problem | None = None
    votes: tuple[Vote, ...] = ()  # if it is the median of several
    cached: bool = False  # from the cache, and free
