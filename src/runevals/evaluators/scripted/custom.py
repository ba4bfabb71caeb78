"""An assertion of one's own, in JavaScript or Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.scripted.code import Code


@evaluator("custom")
class Custom(Code):
    """Passes when the assertion's function says so.

    JavaScript: `export default function (output, {sample, assertion, toolCalls})`; Python:
    `check(output, sample, assertion)`. It returns true, false or `{pass, message}`, within 30 seconds, locked in
    as graders are. `toolCalls` are objects with `name` and `input`, or null if the target does not report them.

    Options:
        code: the source; a suite names its file as `fn`.
        language: the language it is written in.
        filename: how errors name it.
        assertion: what the suite says of this assertion, handed to the function.

    Example:
        {"type": "custom", "fn": "assertions/mentions-sql.mjs"}
        passes: This is open to SQL injection.
        fails: This looks fine.
    """

    kind = "assertion"
    timeout_s = 30.0

    filename: str = "assertion"
    assertion: Mapping[str, object] = field(default_factory=dict)

    def arguments(self, subject: Subject) -> Mapping[str, object]:
        calls = subject.response.tool_calls
        return {
            "output": subject.response.text,
            "sample": dict(subject.metadata),
            "assertion": dict(self.assertion),
            "tool_calls": None if calls is None else [{"name": one.name, "input": one.input} for one in calls],
        }
