"""The response ends with a given text."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.text.starts_with import StartsWith


@evaluator("ends_with")
class EndsWith(StartsWith):
    """Passes when the response ends with the text; nothing is trimmed.

    Options:
        value: the text.
        case_sensitive: tell capitals from small letters.

    Example:
        {"type": "ends_with", "value": "Kind regards"}
        passes: The order has shipped. Kind regards
        fails: Kind regards and thank you
    """

    verb = "end"
    is_there = staticmethod(str.endswith)
