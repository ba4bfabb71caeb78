"""The response is JSON."""

from __future__ import annotations

import json

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.structure.json_schema import without_fences
from runevals.lib.parsing.strict_json import refuse_constant
from runevals.records import Verdict


@evaluator("json_valid")
class JsonValid(Check):
    """Passes when the whole response is JSON. White space around it is fine; NaN and Infinity are not JSON.

    Options:
        strip_fences: also accept JSON inside one fenced code block.

    Example:
        {"type": "json_valid"}
        passes: {"name": "Ann"}
        fails: {name: Ann}
    """

    strip_fences: bool = False

    def check(self, subject: Subject) -> Verdict:
        text = subject.response.text
        try:
            json.loads(without_fences(text) if self.strip_fences else text, parse_constant=refuse_constant)
        except (ValueError, RecursionError) as error:
            return Verdict(0.0, f"output is not valid JSON: {error}")
        return Verdict(1.0, "it is JSON")
