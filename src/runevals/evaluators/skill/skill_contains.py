"""A skill's result contains every one of several values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import unless
from runevals.evaluators.skill.ended import OfResult, json_equal
from runevals.records import Verdict


@evaluator("skill-contains")
class SkillContains(OfResult):
    """Passes when each value is in the result: part of a text, or an element of a list. An error fails.

    Options:
        values: the values.

    Example:
        "expected": {"type": "contains", "values": ["-i", "input.mp4"]}
        passes: {"value": "ffmpeg -i input.mp4 out.mp3"}
        fails: {"value": ["ffmpeg", "-i", "input.mov"]}
    """

    values: tuple[object, ...]

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if "" in self.values:
            yield "values", "values has the empty text, which is in every text"

    def of_result(self, result: object) -> Verdict:
        if not isinstance(result, str | list):
            return Verdict(0.0, f"the result is neither text nor a list: {json.dumps(result)[:200]}")
        missing = [json.dumps(value, ensure_ascii=False) for value in self.values if not _in(value, result)]
        return unless(missing, "every value was found", "not found")


def _in(value: object, result: str | Sequence[object]) -> bool:
    if isinstance(result, str):
        return isinstance(value, str) and value in result
    return any(json_equal(item, value) for item in result)
