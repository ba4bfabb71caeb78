"""The target took not too many turns."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.limits.bound import TurnsBound


@evaluator("turns_max")
class TurnsMax(TurnsBound):
    """Passes when the target took at most so many turns to answer.

    A target that does not report it makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at most so many.

    Example:
        {"type": "turns_max", "value": 5}
        passes: {"output": "Done.", "turns": 3}
        fails: {"output": "Done.", "turns": 9}
    """
