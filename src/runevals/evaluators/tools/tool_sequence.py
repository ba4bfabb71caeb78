"""Tools were called in this order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.tools.calls import calls_of
from runevals.records import Layer, Problem, Verdict
from runevals.records.trace import same_tool


@evaluator("tool_sequence")
@dataclass(frozen=True, kw_only=True)
class ToolSequence(Check):
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

    layer: ClassVar[Layer] = Layer.BEHAVIOR

    steps: tuple[str, ...]
    mode: Literal["exact", "in_order", "any_order", "subset"] = "in_order"

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not all(step.strip() for step in self.steps):
            yield "steps", "steps holds a blank name, which no tool has"

    def check(self, subject: Subject) -> Verdict | Problem:
        calls = calls_of(subject)
        if isinstance(calls, Problem):
            return calls
        called = [call.name for call in calls]
        match self.mode:
            case "exact":
                wrong = self._unequal(called)
            case "in_order":
                wrong = self._out_of_order(called)
            case "any_order":
                wrong = self._lacking(called)
            case _:
                wrong = self._not_listed(called)
        if wrong is None:
            return Verdict(1.0, f"the calls are as listed ({self.mode})")
        return Verdict(0.0, wrong, {"called": called})

    def _unequal(self, called: Sequence[str]) -> str | None:
        for number, (name, step) in enumerate(zip(called, self.steps, strict=False), start=1):
            if not same_tool(name, step):
                return f"call {number} is of {name}, not of {step}"
        if len(called) == len(self.steps):
            return None
        return f"{len(called)} calls, {len(self.steps)} listed"

    def _out_of_order(self, called: Sequence[str]) -> str | None:
        left = iter(called)
        for number, step in enumerate(self.steps, start=1):
            if not any(same_tool(name, step) for name in left):
                before = "" if number == 1 else f" after {self.steps[number - 2]}"
                return f"step {number}, {step}, was not called{before}"
        return None

    def _lacking(self, called: Sequence[str]) -> str | None:
        for step, wanted in Counter(step.casefold() for step in self.steps).items():
            found = sum(same_tool(name, step) for name in called)
            if found < wanted:
                return f"{step} was called {found} of {wanted} times"
        return None

    def _not_listed(self, called: Sequence[str]) -> str | None:
        others = [name for name in called if not any(same_tool(name, step) for step in self.steps)]
        return f"also called: {', '.join(dict.fromkeys(others))}" if others else None
