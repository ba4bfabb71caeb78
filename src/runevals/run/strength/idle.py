"""Why a check passes whatever it is shown."""

from __future__ import annotations

import re

from runevals.evaluators.combined.assert_set import AssertSet
from runevals.evaluators.combined.composite import CompositeEvaluator
from runevals.evaluators.kinds import Composite, Evaluator, Scripted, Subject
from runevals.records import Response
from runevals.records.script import Call, ScriptRunner

PATTERNS = frozenset({"regex", "preset-regex", "skill-regex"})
# What is found in each of these is found anywhere: nothing, few and many characters, and every one of the usual.
PROBES = ("", "\n", "Zq", "".join(map(chr, range(256))), "one more word, " * 2000)
_FORBIDS = re.compile(r"\(\?<?!")  # a pattern that says what must not follow is not found everywhere


class NeverFails:
    """Why evaluators pass whatever they are shown; what asks the sandbox is asked once."""

    def __init__(self, sandbox: ScriptRunner) -> None:
        self._sandbox = sandbox
        self._results: dict[object, bool] = {}

    def reason(self, evaluator: Evaluator, threshold: float | None, expected: str | None) -> str | None:
        """The reason, None if an answer can fail; an expected text may be what makes it so."""
        if threshold is not None and threshold <= evaluator.scale.minimum:
            return f"its threshold, {threshold:g}, is the least score there is"
        if isinstance(evaluator, Composite):
            return self._group_reason(evaluator, expected)
        if evaluator.name in PATTERNS and isinstance(evaluator, Scripted):
            is_everywhere = all(self._finds(evaluator, expected, probe) for probe in PROBES)
            return "the pattern is found in every text" if is_everywhere else None
        return evaluator.never_fails(expected)

    def _group_reason(self, evaluator: Composite, expected: str | None) -> str | None:
        """Why a group cannot fail: of `any` one member that cannot is enough, of `all` every one must be such."""
        reasons = [
            None if member.negated else self.reason(member.evaluator, member.threshold, expected)
            for member in evaluator.members
        ]
        match evaluator:
            case AssertSet(mode="any") | CompositeEvaluator(aggregation="or"):
                enough = any(reasons)
            case AssertSet(mode="all") | CompositeEvaluator(aggregation="and"):
                enough = all(reasons)
            case _:
                return None
        if not enough:
            return None
        return next(
            f"{member.id} in it always passes ({reason_})"
            for member, reason_ in zip(evaluator.members, reasons, strict=True)
            if reason_
        )

    def _finds(self, evaluator: Scripted, expected: str | None, probe: str) -> bool:
        call = evaluator.call(Subject(prompt="", response=Response(text=probe, value=probe), expected=expected))
        if not isinstance(call, Call) or _FORBIDS.search(f"{call.code} {call.arguments.get('assertion')}"):
            return False
        key = (call.code, str(call.arguments))
        if key not in self._results:
            answer = self._sandbox.run(call)
            self._results[key] = answer.error is None and evaluator.verdict(answer).score == 1.0
        return self._results[key]
