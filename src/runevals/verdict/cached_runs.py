"""Answers that an HTTP cache repeated: they do not count as runs of their own.

Two equal answers are one only with evidence: the same response id, a header of the cache, or a wholly cached
prompt in answers made at the same moment. Equal text alone is not evidence, as many targets repeat themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    if len(attempt.turns) != len(earlier.turns) or not attempt.turns:
        return False
    return all(_evidence(turn, before) for turn, before in zip(attempt.turns, earlier.turns, strict=True))


def _evidence(turn: TurnReport, before: TurnReport) -> str:
    """The evidence that two answers are one."""
    one, other = turn.delivery, before.delivery
    if one is None:
        return ""
    evidence = ""
    if one.from_cache:
        evidence = "it says so"
    elif other is not None and one.response_id == other.response_id and len(one.response_id or "") >= SHORTEST_ID:
        evidence = "the same response id"
    elif other is not None and one.made_at is not None and one.made_at == other.made_at and _wholly_cached(turn):
        evidence = "the whole prompt was cached, at the same moment"
    return evidence if evidence and turn.output is not None and turn.output == before.output else ""


def _wholly_cached(turn: TurnReport) -> bool:
    cached = None if turn.delivery is None else turn.delivery.cached_tokens
    return bool(cached) and cached == turn.input_tokens
