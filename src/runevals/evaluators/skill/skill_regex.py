"""A skill's result matches a regular expression of Python's."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Scripted, Subject, either
from runevals.evaluators.skill.ended import OfJson, raised, result_of
from runevals.records import Verdict
from runevals.records.script import Answer, Call

MATCH = (
    "import re\ndef check(output, sample, assertion):\n    return bool(re.match(assertion['pattern'], output))\n"
)


@evaluator("skill-regex")
class SkillRegex(OfJson, Scripted):
    """Passes when `re.match(pattern, result)` finds something: at the start, in Python's syntax. Only for texts.

    Options:
        pattern: the regular expression.

    Example:
        "expected": {"type": "regex", "pattern": "^[A-Z]+$"}
        passes: {"value": "HELLO"}
        fails: {"value": "Hello"}
    """

    pattern: str

    def problems(self) -> Iterable[tuple[str | None, str]]:
        try:
            re.compile(self.pattern)
        except (re.error, RecursionError, OverflowError) as error:
            yield "pattern", f"is not a regular expression: {error}"

    def call(self, subject: Subject) -> Call | Verdict:
        failed = raised(subject)
        if failed is not None:
            return failed
        result = result_of(subject)
        if not isinstance(result, str):
            return Verdict(0.0, "the result is not text")
        arguments = {"output": result, "sample": {}, "assertion": {"pattern": self.pattern}}
        return Call(kind="assertion", code=MATCH, language="python", arguments=arguments, timeout_s=1.0)

    def verdict(self, answer: Answer) -> Verdict:
        return either(f"{self.pattern} matches", f"{self.pattern} does not match", passed=bool(answer.passed))
