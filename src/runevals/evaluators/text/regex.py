"""The response matches a regular expression."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Scripted, Subject, either
from runevals.records import Verdict
from runevals.records.script import Answer, Call


@evaluator("regex")
class Regex(Scripted):
    """Passes when the pattern is found in the response. Patterns mean what they mean in JavaScript.

    A pattern that runs longer than a second on an answer is an error of that check, not a hang.

    Options:
        pattern: the regular expression, without slashes.
        flags: JavaScript's flags; given ones replace the default, which ignores case.

    Example:
        "evaluators": {"regex": {"pattern": "\\\\d{4}-\\\\d{2}-\\\\d{2}"}}
        passes: On 2026-11-20.
        fails: On 20 November.
    """

    may_be_quick = True
    pattern: str
    flags: str = "i"

    def call(self, subject: Subject) -> Call | Verdict:
        return regex_call(self.pattern, self.flags, subject.response.text)

    def verdict(self, answer: Answer) -> Verdict:
        return regex_verdict(self.pattern, self.flags, answer)

    def rehearsal(self, expected: str | None) -> Call | None:  # noqa: ARG002 - the pattern is an option
        return regex_call(self.pattern, self.flags, "")


def regex_call(pattern: str, flags: str, text: str) -> Call:
    """`new RegExp(pattern, flags).test(text)` in the sandbox."""
    return Call(kind="regex", code=pattern, arguments={"flags": flags, "text": text})


def regex_verdict(pattern: str, flags: str, answer: Answer) -> Verdict:
    """Found or not, in words."""
    label = f"/{pattern}/{flags}"
    return either(f"{label} matches", f"{label} does not match", passed=answer.value is True)
