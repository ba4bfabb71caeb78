"""The response is JSON."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.structure.json_schema import no_json, without_fences
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
        return no_json(without_fences(text) if self.strip_fences else text) or Verdict(1.0, "it is JSON")
