"""Several checks, of which all or any must pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.combined.truth import details, in_words, settled
from runevals.evaluators.kinds import Composite, Part
from runevals.records import Outcome, Problem, Verdict


@evaluator("assert-set")
class AssertSet(Composite):
    """Passes when all of its children pass, or any of them. Children may be inverted, and sets themselves.

    An errored child leaves it errored, unless the others settle it: a failed one of `all`, a passed one of `any`.

    Options:
        mode: `all` or `any`.

    Example:
        {"type": "assert-set", "mode": "any", "children": [{"type": "contains", "value": "parameterized"},
         {"type": "contains", "value": "prepared statement"}]}
        passes: Use a prepared statement.
        fails: This looks fine.
    """

    mode: Literal["all", "any"] = "all"

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not self.members:
            yield "children", "children is empty"

    def combine(self, parts: Sequence[Part]) -> Verdict | Problem:
        outcome = settled(parts, Outcome.FAILED if self.mode == "all" else Outcome.PASSED, "child")
        if not isinstance(outcome, bool):
            return outcome
        return Verdict(float(outcome), in_words(parts), details(parts))
