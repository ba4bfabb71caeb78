"""Cases that nothing looks at, and checks that say the same of every answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from runevals.evaluators import catalogue
from runevals.evaluators.combined.assert_set import AssertSet
from runevals.evaluators.combined.composite import CompositeEvaluator
from runevals.evaluators.kinds import Composite, Evaluator, Scripted, Subject
from runevals.records import Case, Response
from runevals.records.script import Call, ScriptRunner
from runevals.suites.health.hint import Hint, case_label
from runevals.suites.plan import RunPlan, checks_of

PATTERNS = frozenset({"regex", "preset-regex", "skill-regex"})
# What is found in each of these is found anywhere: nothing, few and many characters, and every one of the usual.
PROBES = ("", "\n", "Zq", "".join(map(chr, range(256))), "one more word, " * 2000)
_FORBIDS = re.compile(r"\(\?<?!")  # a pattern that says what must not follow is not found everywhere


def without_checks(cases: Sequence[Case]) -> Iterator[Hint]:
    """Cases that no check looks at, or only such as need an expected text that is not there."""
    for case in cases:
        checks = [(turn, spec) for turn in case.turns for spec in turn.checks]
        if not checks:
            message = "no check looks at its answer, so it is never measured; add one, or remove the case"
        elif all(turn.expected is None and catalogue.find(spec.name).needs_expected for turn, spec in checks):
            message = "its checks compare with an expected text, and it has none: they are always skipped; add one"
        else:
            continue
        yield Hint(kind="no checks", location=case.location, message=f"{case_label(case)}: {message}")


def idle_checks(plan: RunPlan, sandbox: ScriptRunner) -> Iterator[Hint]:
    """Checks that no answer can fail, or none pass; one that many cases share is reported once."""
    never_fails = _NeverFails(sandbox)
    reported: set[object] = set()
    for case in plan.cases:
        for turn in case.turns:
            for spec, check in zip(turn.checks, checks_of(turn), strict=True):
                location = spec.location or case.location
                reason = never_fails.reason(check.evaluator, check.threshold, None)
                key: object = (case.suite, spec.location, check.id, reason)
                if reason is None and turn.expected is not None:
                    reason = never_fails.reason(check.evaluator, check.threshold, turn.expected)
                    location = turn.location or case.location
                    key = (location, check.id)
                if reason is None or key in reported:
                    continue
                reported.add(key)
                word = "it never passes" if spec.negated else "it always passes"
                message = f"{check.id}: {word}: {reason}; say more precisely what must hold, or remove it"
                yield Hint(kind="cannot fail", location=location, message=message)


class _NeverFails:
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
            return "the pattern is found in every text" if self._finds_all(evaluator, expected) else None
        return evaluator.never_fails(expected)

    def _group_reason(self, evaluator: Composite, expected: str | None) -> str | None:
        """Of `any`, one member is enough; of `all`, every one must be such."""
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

    def _finds_all(self, evaluator: Scripted, expected: str | None) -> bool:
        return all(self._finds(evaluator, expected, probe) for probe in PROBES)

    def _finds(self, evaluator: Scripted, expected: str | None, probe: str) -> bool:
        call = evaluator.call(Subject(prompt="", response=Response(text=probe, value=probe), expected=expected))
        if not isinstance(call, Call) or _FORBIDS.search(f"{call.code} {call.arguments.get('assertion')}"):
            return False
        key = (call.code, str(call.arguments))
        if key not in self._results:
            answer = self._sandbox.run(call)
            self._results[key] = answer.error is None and evaluator.verdict(answer).score == 1.0
        return self._results[key]
