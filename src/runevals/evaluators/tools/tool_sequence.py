"""Tools were called in this order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.tools.calls import CallsCheck
from runevals.records import ToolCall, Verdict
from runevals.records.trace import same_tool


@evaluator("tool_sequence")
class ToolSequence(CallsCheck):
    """Passes when the tool calls of the answer are these steps.

    Names are compared without regard to capitals; a tool of a server is found with its prefix and without. A
    target that does not report its tool calls makes this an error (`evidence_missing`).

    Options:
        steps: the tools, one entry a call.
        mode: `exact`, these calls and no other; `in_order`, others may come between; `any_order`, each at least as
            often as it is listed; `subset`, no tool but these, each any number of times, or never.

    Example:
        {"type": "tool_sequence", "steps": ["search", "read_file"], "mode": "in_order"}
        passes: {"output": "OK", "tool_calls": [{"name": "search"}, {"name": "ls"}, {"name": "fs.read_file"}]}
        fails: {"output": "OK", "tool_calls": [{"name": "read_file"}, {"name": "search"}]}
    """

    steps: tuple[str, ...]
    mode: Literal["exact", "in_order", "any_order", "subset"] = "in_order"

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not all(step.strip() for step in self.steps):
            yield "steps", "steps holds a blank name, which no tool has"

    def of_calls(self, calls: Sequence[ToolCall]) -> Verdict:
        names = [call.name for call in calls]
        reason = {
            "exact": self._difference,
            "in_order": self._order_problem,
            "any_order": self._missing_calls,
            "subset": self._unlisted_calls,
        }[self.mode](names)
        if reason is None:
            return Verdict(1.0, f"the calls are as listed ({self.mode})")
        return Verdict(0.0, reason, {"called": names})

    def _difference(self, names: Sequence[str]) -> str | None:
        for number, (name, step) in enumerate(zip(names, self.steps, strict=False), start=1):
            if not same_tool(name, step):
                return f"call {number} is of {name}, not of {step}"
        return None if len(names) == len(self.steps) else f"{len(names)} calls, {len(self.steps)} listed"

    def _order_problem(self, names: Sequence[str]) -> str | None:
        rest = iter(names)
        for number, step in enumerate(self.steps, start=1):
            if not any(same_tool(name, step) for name in rest):
                before = "" if number == 1 else f" after {self.steps[number - 2]}"
                return f"step {number}, {step}, was not called{before}"
        return None

    def _missing_calls(self, names: Sequence[str]) -> str | None:
        for step, expected in Counter(step.casefold() for step in self.steps).items():
            actual = sum(same_tool(name, step) for name in names)
            if actual < expected:
                return f"{step} was called {actual} of {expected} times"
        return None

    def _unlisted_calls(self, names: Sequence[str]) -> str | None:
        others = [name for name in names if not any(same_tool(name, step) for step in self.steps)]
        return f"also called: {', '.join(dict.fromkeys(others))}" if others else None
