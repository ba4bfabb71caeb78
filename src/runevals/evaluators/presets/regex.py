"""The output matches a regular expression, the expected text if there is one."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Scripted, Subject
from runevals.evaluators.text.regex import regex_call, regex_verdict
from runevals.records import Verdict
from runevals.records.script import Answer, Call


@evaluator("preset-regex")
class PresetRegex(Scripted):
    """Passes when `new RegExp(pattern, flags)` finds something in the output, as JavaScript would.

    Options:
        pattern: the regular expression where a case has no expected text; an expected text replaces it.
        flags: JavaScript's flags.

    Example:
        {"evaluators": ["preset-regex"], "rows": [{"input": "When?", "expected": "\\\\d{4}-\\\\d{2}-\\\\d{2}"}]}
        passes: On 2026-11-20.
        fails: On 20 November.
    """

    may_be_quick = True
    pattern: str | None = None
    flags: str = ""

    def call(self, subject: Subject) -> Call | Verdict:
        pattern = self._pattern(subject.expected)
        if pattern is None:
            return Verdict.skipped("no pattern and no expected text")
        return regex_call(pattern, self.flags, subject.response.text)

    def verdict(self, answer: Answer) -> Verdict:
        label = self.pattern if self.pattern is not None else "the expected pattern"
        return regex_verdict(label, self.flags, answer)

    def idle_without_expected(self) -> bool:
        return self.pattern is None

    def never_fails(self, expected: str | None) -> str | None:
        return "the empty pattern is found in every text" if self._pattern(expected) == "" else None

    def rehearsal(self, expected: str | None) -> Call | None:
        pattern = self._pattern(expected)
        return None if pattern is None else regex_call(pattern, self.flags, "")

    def _pattern(self, expected: str | None) -> str | None:
        return self.pattern if expected is None else expected
