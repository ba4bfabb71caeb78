"""A skill refuses: it raises, or does not come to an end in time."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Layer, Response, Verdict


@evaluator("timeout_or_error")
class TimeoutOrError(Check):
    """Passes when the call raised, timed out, or took at least so long.

    Options:
        max_duration_ms: from how many milliseconds on it counts as timed out.

    Example:
        "expected": {"type": "timeout_or_error", "max_duration_ms": 5000}
        passes: {"value": null, "latency_ms": 6000}
        fails: {"value": "done", "latency_ms": 12}
    """

    layer = Layer.BEHAVIOR

    max_duration_ms: float | None = None

    def never_fails(self, expected: str | None) -> str | None:  # noqa: ARG002 - there is none
        return "every call takes at least 0 ms" if self.max_duration_ms == 0 else None

    def of_no_json(self, response: Response) -> Verdict:
        if response.raised is not None:
            return Verdict(1.0, f"it ended with: {response.raised}")
        took_ms = None if response.latency_s is None else 1000 * response.latency_s
        if took_ms is not None and self.max_duration_ms is not None and took_ms >= self.max_duration_ms:
            return Verdict(1.0, f"it took {took_ms:.0f} ms")
        return Verdict(0.0, "it returned, without an error")

    def check(self, subject: Subject) -> Verdict:
        return self.of_no_json(subject.response)
