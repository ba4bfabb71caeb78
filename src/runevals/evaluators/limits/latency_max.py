"""The answer came soon enough."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Subject
from runevals.evaluators.limits.bound import Bound


@evaluator("latency_max")
class LatencyMax(Bound):
    """Passes when the answer took at most so many milliseconds.

    A target that does not report it makes this an error (`evidence_missing`), never a pass.

    Options:
        value: at most so many milliseconds.

    Example:
        {"type": "latency_max", "value": 3000}
        passes: {"output": "Within 30 days.", "latency_ms": 800}
        fails: {"output": "Within 30 days.", "latency_ms": 4200}
    """

    unit = "ms"
    missing = "how long the answer took is not known"

    def measure(self, subject: Subject) -> float | None:
        latency_s = subject.response.latency_s
        return None if latency_s is None else round(latency_s * 1000, 6)
