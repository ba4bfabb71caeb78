"""A judge's answers, kept: what was asked once in the same words need not be paid for twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from runevals.judge.model import ModelJudge
from runevals.lib.storage.cache import Cache, SignedCache
from runevals.records import ModelIdentity
from runevals.records.judgement import Judgement, Question


class CachedJudge:
    """Looks an answer up by all that it depends on, the attempt and the vote included, before it asks.

    The repeats of an unchanged answer are thus judged anew each, while base and head share the judgements of
    answers that are equal. Kept answers are signed with the judge's API key: without it, none can be planted.
    """

    def __init__(self, judge: ModelJudge, cache: Cache, *, vote: int, redact: Callable[[str], str]) -> None:
        """`vote` numbers the voters of a panel; `redact` takes secrets out of what is kept."""
        self._judge = judge
        self._cache = SignedCache(cache, judge.secret)
        self._vote = vote
        self._redact = redact
        self._reported: set[str] = set()

    def ask(self, question: Question, *, case: str, turn: int, attempt: int) -> Judgement:
        """The kept judgement, else a new one, which is kept unless it is a problem. Raises JudgeRefused."""
        asked = [self._judge.sent_for(question), self._vote, attempt]
        kept = self._kept(asked, question)
        if kept is not None:
            return kept
        found = self._judge.ask(question, case=case, turn=turn, attempt=attempt)
        if found.problem is None:
            self._cache.put(asked, json.dumps([found.score, self._redact(found.reason), found.model]))
        return found

    def identity(self) -> ModelIdentity:
        """The judge's, with the models that gave the kept answers."""
        known = self._judge.identity()
        return replace(known, reported=tuple(sorted({*known.reported, *self._reported})))

    def _kept(self, asked: object, question: Question) -> Judgement | None:
        kept = self._cache.get(asked)
        if kept is None:
            return None
        score, reason, model = json.loads(kept)
        if not question.scale.holds(score):
            return None
        if model is not None:
            self._reported.add(model)
        return Judgement(
            score=score, reason=reason, model=model, cost_usd=0.0, input_tokens=0, output_tokens=0, cached=True
        )
