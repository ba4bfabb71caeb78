"""A judge's answers, kept: what was asked once in the same words need not be paid for twice."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import replace

from runevals.cache import Cache
from runevals.evaluators.kinds import Judgement, Question
from runevals.judge import ModelJudge
from runevals.records import ModelIdentity


class CachedJudge:
    """Looks an answer up by all that it depends on, the attempt and the vote included, before it asks.

    The repeats of an unchanged answer are thus judged anew each, while base and head share the judgements of
    answers that are equal. Kept answers are signed with the judge's API key: without it, none can be planted.
    """

    def __init__(self, judge: ModelJudge, cache: Cache, *, vote: int, redact: Callable[[str], str]) -> None:
        """`vote` numbers the voters of a panel; `redact` takes secrets out of what is kept."""
        self._judge = judge
        self._cache = cache
        self._vote = vote
        self._redact = redact
        self._reported: set[str] = set()

    def ask(self, question: Question, *, case: str, turn: int, attempt: int) -> Judgement:
        """The kept judgement, else a new one, which is kept unless it is a problem. Raises JudgeRefused."""
        asked = json.dumps([self._judge.sent_for(question), self._vote, attempt], sort_keys=True)
        key = hashlib.sha256(asked.encode()).hexdigest()
        kept = self._kept(key, question)
        if kept is not None:
            return kept
        found = self._judge.ask(question, case=case, turn=turn, attempt=attempt)
        if found.problem is None:
            told = json.dumps([found.score, self._redact(found.reason), found.model])
            self._cache.put(key, self._signature(key, told) + told)
        return found

    def identity(self) -> ModelIdentity:
        """The judge's, with the models that gave the kept answers."""
        known = self._judge.identity()
        return replace(known, reported=tuple(sorted({*known.reported, *self._reported})))

    def _kept(self, key: str, question: Question) -> Judgement | None:
        kept = self._cache.get(key)
        if kept is None or not hmac.compare_digest(kept[:64], self._signature(key, kept[64:])):
            return None
        score, reason, model = json.loads(kept[64:])
        if not question.scale.holds(score):
            return None
        if model is not None:
            self._reported.add(model)
        return Judgement(
            score=score, reason=reason, model=model, cost_usd=0.0, input_tokens=0, output_tokens=0, cached=True
        )

    def _signature(self, key: str, told: str) -> str:
        return hmac.new(self._judge.secret, f"{key}{told}".encode(), hashlib.sha256).hexdigest()
