"""A mock answered tool calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import CallsCheck, split
from runevals.records import Scale, ToolCall, Verdict


@evaluator("mock_hit")
class MockHit(CallsCheck):
    """Counts how often a mock of the case answered a tool call; passes from 1 unless `threshold` says otherwise.

    A target that does not report its tool calls makes this an error (`evidence_missing`).

    Options:
        value: `Tool:N`, the N-th mock of that tool, from 1.

    Example:
        "mocks": [{"tool": "read_file", "return": "30 days"}],
        "assertions": [{"type": "mock_hit", "value": "read_file:1"}]
    """

    scale = Scale(0.0, None)
    default_threshold = 1.0

    value: str

    def problems(self) -> Iterable[tuple[str | None, str]]:
        tool, number = split(self.value)
        if not tool or not (number.isascii() and number.isdigit()) or int(number) < 1:
            yield "value", f"value is {self.value!r}; it must be Tool:N, with N from 1"

    def of_calls(self, calls: Sequence[ToolCall]) -> Verdict:
        tool, number = split(self.value)
        mock_id = f"{tool}:{int(number)}".casefold()
        hits = sum(call.mock is not None and call.mock.casefold() == mock_id for call in calls)
        return Verdict(float(hits), f"{hits} calls answered by {self.value}")
