"""Cached answers of a judge: the same question is paid for once."""

from __future__ import annotations

import json
from collections.abc import Callable

from msgspec.structs import replace

from runevals.judge.model import ModelJudge
from runevals.lib.storage.cache import Cache, SignedCache
from runevals.records import ModelIdentity
from runevals.records.judgement import Judgement, Question


class CachedJudge:
    """Looks an answer up by everything it depends on, including the attempt and the vote, before it asks.

    Each repeat of an unchanged answer is thus judged separately, while base and head share the judgements of
    equal answers. Cached answers are signed with the judge's API key: without the key, none can be forged.
    """

    def __init__(self, judge: ModelJudge, cache: Cache, *, vote: int, redact: Callable[[str], str]) -> None:
        """`vote` numbers the voters of a panel; `redact` removes secrets from what is cached."""
        self._judge = judge
        self._cache = SignedCache(cache, judge.secret)
        self._vote = vote
        self._redact = redact
        self._models: set[str] = set()

    def ask(self, question: Question, *, case: str, turn: int, attempt: int) -> Judgement:
        """The cached judgement, or a new one, which is cached unless it is a problem. Raises JudgeRefused."""
        key = [self._judge.sent_for(question), self._vote, attempt]
        cached = self._cached_judgement(key, question)
        if cached is not None:
            return cached
        judgement = self._judge.ask(question, case=case, turn=turn, attempt=attempt)
        if judgement.problem is None:
            reason, dimensions = self._redact(judgement.reason), dict(judgement.dimensions)
            self._cache.put(key, json.dumps([judgement.score, reason, judgement.model, dimensions]))
        return judgement

    def identity(self) -> ModelIdentity:
        """The judge's identity, with the models of the cached answers."""
        identity = self._judge.identity()
        return replace(identity, reported=tuple(sorted({*identity.reported, *self._models})))

    def _cached_judgement(self, key: object, question: Question) -> Judgement | None:
        text = self._cache.get(key)
        if text is None:
            return None
        score, reason, model, dimensions = json.loads(text)
        if not question.scale.holds(score):
            return None
        if model is not None:
            self._models.add(model)
        return Judgement(
            score=score,
            reason=reason,
            model=model,
            cost_usd=0.0,
            input_tokens=0,
            output_tokens=0,
            dimensions=dimensions,
            cached=True,
        )
