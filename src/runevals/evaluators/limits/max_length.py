"""The response is not too long."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.limits.bound import CharactersBound


@evaluator("max_length")
class MaxLength(CharactersBound):
    """Passes when the response has not too many characters (Unicode code points).

    Options:
        value: at most so many.

    Example:
        {"type": "max_length", "value": 20}
        passes: OK.
        fails: The warranty does not cover water damage.
    """
