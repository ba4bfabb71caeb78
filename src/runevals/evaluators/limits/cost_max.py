"""The answer did not cost too much."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.limits.bound import Bound


@evaluator("cost_max")
class CostMax(Bound):
    """Passes when the target's calls for this answer cost at most so many US dollars.

    A target that does not report it makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at most so much.

    Example:
        {"type": "cost_max", "value": 0.01}
        passes: {"output": "Within 30 days.", "cost_usd": 0.004}
        fails: {"output": "Within 30 days.", "cost_usd": 0.02}
    """

    unit = "USD"
    missing = "it is not known what the answer cost"

    def measure(self, subject: Subject) -> float | None:
        return subject.response.cost_usd
