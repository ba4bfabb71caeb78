"""A skill's result contains every one of several values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.skill.ended import OfJson, json_equal, raised, result_of
from runevals.records import Verdict


@evaluator("skill-contains")
class SkillContains(OfJson, Check):
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

    def check(self, subject: Subject) -> Verdict:
        failed = raised(subject)
        if failed is not None:
            return failed
        result = result_of(subject)
        if not isinstance(result, str | list):
            return Verdict(0.0, f"the result is neither text nor a list: {json.dumps(result)[:200]}")
        missing = [value for value in self.values if not _in(value, result)]
        if not missing:
            return Verdict(1.0, "every value was found")
        return Verdict(0.0, f"not found: {', '.join(json.dumps(value, ensure_ascii=False) for value in missing)}")


def _in(value: object, result: str | Sequence[object]) -> bool:
    if isinstance(result, str):
        return isinstance(value, str) and value in result
    return any(json_equal(item, value) for item in result)
