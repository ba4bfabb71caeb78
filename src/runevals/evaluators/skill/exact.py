"""A skill's result is exactly a value."""

from __future__ import annotations

import json

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import either
from runevals.evaluators.skill.ended import OfResult, json_equal
from runevals.records import Verdict


@evaluator("exact")
class Exact(OfResult):
    """Passes when the result equals the value, as JSON: true is not 1. An error or time-out fails.

    Options:
        value: the value; any JSON.

    Example:
        "expected": {"type": "exact", "value": "HELLO"}
        passes: {"value": "HELLO"}
        fails: {"value": "hello"}
    """

    value: object

    def of_result(self, result: object) -> Verdict:
        other = f"it is {_short_json(result)}, not {_short_json(self.value)}"
        return either("it is the same", other, passed=json_equal(result, self.value))


def _short_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:500]
