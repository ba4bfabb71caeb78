"""The response is long enough."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.limits.bound import CharactersBound


@evaluator("min_length")
class MinLength(CharactersBound):
    """Passes when the response has enough characters (Unicode code points).

    Options:
        value: at least so many.

    Example:
        {"type": "min_length", "value": 20}
        passes: Within 30 days of delivery.
        fails: Yes.
    """
