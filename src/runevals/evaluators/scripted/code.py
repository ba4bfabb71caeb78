"""A grader of one's own, in JavaScript or Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Scripted, Subject
from runevals.records import Layer, Verdict
from runevals.records.script import Answer, Call, CallKind, Language


@evaluator("code")
class Code(Scripted):
    """Passes when the code says so. It is declared in the settings under an id, which suites then name.

    JavaScript exports a function `(input, output, expected, metadata)`, async or not, and may require lodash,
    dayjs, validator and ajv; Python defines `evaluate(input, output, expected, metadata)` and may import json, re,
    math, collections and difflib. It returns `{passed, score?, reason?, details?}`, the score from 0 to 1. It has
    5 seconds and 128 MB, no files, no network, and no memory of earlier calls.

    Options:
        code: the source; `file` names one instead.
        language: the language it is written in.
        filename: how errors name it.

    Example:
        evaluators:
          - id: short
            type: code
            language: python
            code: |
              def evaluate(input, output, expected, metadata):
                  return {"passed": len(output) < 40, "reason": f"{len(output)} characters"}
        passes: Yes.
        fails: Yes, you can return everything you bought within 30 days.
    """

    layer = Layer.BEHAVIOR
    kind: ClassVar[CallKind] = "evaluator"
    timeout_s: ClassVar[float] = 5.0

    code: str
    language: Language = "javascript"
    filename: str = "grader"

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not self.code.strip():
            yield "code", "code is empty"

    def arguments(self, subject: Subject) -> Mapping[str, object]:
        """What the code is called with."""
        return {
            "input": subject.prompt,
            "output": subject.response.text,
            "expected": subject.expected,
            "metadata": dict(subject.metadata),
        }

    def call(self, subject: Subject) -> Call:
        return Call(
            kind=self.kind,
            code=self.code,
            language=self.language,
            filename=self.filename,
            arguments=self.arguments(subject),
            timeout_s=self.timeout_s,
        )

    def verdict(self, answer: Answer) -> Verdict:
        logs = {"logs": answer.logs} if answer.logs else {}
        reason = answer.reason or f"{self.filename} returned {str(answer.passed).lower()}"
        return Verdict(answer.score, reason, {**logs, **answer.details}, passed=answer.passed)
