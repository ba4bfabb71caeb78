"""Three arms of the same cases: measured otherwise, on the base, and now."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from msgspec.structs import replace

from runevals.records import AgainstComparison, Arm, CaseReport, Comparison, RunReport
from runevals.verdict.matching import Side, match
from runevals.verdict.secondary_metrics import costs


def with_arms(against: AgainstComparison, report: RunReport, comparison: Comparison | None) -> AgainstComparison:
    """The comparison with the skill's absence, with what the base reached in the cases that all three measured."""
    if against.other is None or against.state is not None or comparison is None:
        return against
    others = {(case.suite, case.key): case for case in against.other.cases if Side.of(case).values}
    cases = [
        (others[pair.key], pair.base, pair.head)
        for pair in match(comparison.base.cases, report.cases).both
        if pair.same_content and pair.measured and pair.key in others
    ]
    if not cases:
        return against
    names = (against.name, "base", "now")
    arms = (_arm(name, arm) for name, arm in zip(names, zip(*cases, strict=True), strict=True))
    return replace(against, arms=tuple(arms))


def _arm(name: str, cases: Sequence[CaseReport]) -> Arm:
    """Means over the cases, each counting the same; no cost if that of a case is unknown."""
    sides, cost = [Side.of(case) for case in cases], costs(cases)
    return Arm(
        name=name,
        cases=len(cases),
        pass_rate=fsum(side.passes / side.runs for side in sides) / len(cases),
        share=fsum(fsum(side.values) / len(side.values) for side in sides) / len(cases),
        cost_usd=fsum(cost.values()) / len(cases) if len(cost) == len(cases) else None,
    )
