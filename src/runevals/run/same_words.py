"""Detects runs whose repeats are all equal, which an HTTP cache could cause."""

from __future__ import annotations

from runevals.records import AttemptReport

FEWEST_CASES = 5  # that were answered more than once
NOTICE = (
    "all repeated runs gave identical answers: if that is always so, set `deterministic: true` in the target; "
    "if a cache does it, switch it off"
)


class RepeatedAnswers:
    """Receives every attempt until two of a case differ."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}  # case → its words, as a hash
        self._again: set[int] = set()
        self._differ = False

    def see(self, case: int, attempt: AttemptReport) -> None:
        """An attempt at the case with this number; one without an answer does not count."""
        outputs = [turn.output for turn in attempt.turns]
        if self._differ or None in outputs or not outputs:
            return
        words = hash(tuple(outputs))
        if case in self._first:
            self._differ = self._first[case] != words
            self._again.add(case)
        self._first[case] = words

    @property
    def notices(self) -> tuple[str, ...]:
        """The notice; empty if any answers differ, or too few cases were repeated (critical ones may be alone)."""
        few = len(self._again) < FEWEST_CASES or 2 * len(self._again) < len(self._first)
        return () if self._differ or few else (NOTICE,)
