"""The target took enough turns."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.limits.bound import TurnsBound


@evaluator("turns_min")
class TurnsMin(TurnsBound):
    """Passes when the target took at least so many turns to answer.

    A target that does not report it makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at least so many.

    Example:
        {"type": "turns_min", "value": 2}
        passes: {"output": "Done.", "turns": 3}
        fails: {"output": "Done.", "turns": 1}
    """
