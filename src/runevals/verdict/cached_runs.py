"""Answers that an HTTP cache repeated: they do not count as runs of their own.

Two equal answers are one only with evidence: the same response id, a header of the cache, or a wholly cached
prompt in answers made at the same moment. Equal text alone is not evidence, as many targets repeat themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from runevals.lib.text.numbers import phrase
from runevals.records import AttemptReport, TurnReport

SHORTEST_ID = 16  # characters; some servers number their answers, or draw a number below a thousand


def copies(attempts: Sequence[AttemptReport]) -> tuple[int, ...]:
    """The numbers of the attempts whose answers repeat those of an earlier attempt in all turns."""
    if not any(turn.delivery is not None for attempt in attempts[1:] for turn in attempt.turns):
        return ()
    known: list[AttemptReport] = []
    numbers = []
    for attempt in attempts:
        if any(_is_copy(attempt, earlier) for earlier in known):
            numbers.append(attempt.attempt)
        else:
            known.append(attempt)
    return tuple(numbers)


def from_cache(attempt: AttemptReport, known: Sequence[AttemptReport]) -> str:
    """The evidence that an answer in `attempt` comes from a cache; empty if there is none."""
    for number, turn in enumerate(attempt.turns):
        if turn.delivery is not None and turn.delivery.from_cache:
            return "it says so"
        for earlier in known:
            evidence = _evidence(turn, earlier.turns[number]) if number < len(earlier.turns) else ""
            if evidence:
                return evidence
    return ""


def _is_copy(attempt: AttemptReport, earlier: AttemptReport) -> bool:
    same_length = 0 < len(attempt.turns) == len(earlier.turns)
    pairs = zip(attempt.turns, earlier.turns, strict=False)
    return same_length and all(_evidence(turn, before) for turn, before in pairs)


def _evidence(turn: TurnReport, before: TurnReport) -> str:
    """The evidence that two answers are one."""
    one, other = turn.delivery, before.delivery
    if one is None or turn.output is None or turn.output != before.output:
        return ""
    if one.from_cache:
        return "it says so"
    if other is None:
        return ""
    if one.response_id == other.response_id and len(one.response_id or "") >= SHORTEST_ID:
        return "the same response id"
    wholly_cached = one.cached_tokens and one.cached_tokens == turn.input_tokens
    same_moment = one.made_at is not None and one.made_at == other.made_at
    return phrase(same_moment and wholly_cached, "the whole prompt was cached, at the same moment")
