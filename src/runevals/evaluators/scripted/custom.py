"""An assertion of one's own, in JavaScript or Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Scripted, Subject
from runevals.records import Layer, Verdict
from runevals.records.script import Answer, Call, Language

TIMEOUT_S = 30.0


@evaluator("custom")
class Custom(Scripted):
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

    layer = Layer.BEHAVIOR

    code: str
    language: Language = "javascript"
    filename: str = "assertion"
    assertion: Mapping[str, object] = field(default_factory=dict)

    def call(self, subject: Subject) -> Call:
        return Call(
            kind="assertion",
            code=self.code,
            language=self.language,
            filename=self.filename,
            arguments={
                "output": subject.response.text,
                "sample": dict(subject.metadata),
                "assertion": dict(self.assertion),
                "tool_calls": _calls(subject),
            },
            timeout_s=TIMEOUT_S,
        )

    def verdict(self, answer: Answer) -> Verdict:
        logs = {"logs": answer.logs} if answer.logs else {}
        reason = answer.reason or f"{self.filename} returned {str(answer.passed).lower()}"
        return Verdict(float(bool(answer.passed)), reason, logs, passed=answer.passed)


def _calls(subject: Subject) -> list[dict[str, object]] | None:
    calls = subject.response.tool_calls
    return None if calls is None else [{"name": call.name, "input": call.input} for call in calls]
