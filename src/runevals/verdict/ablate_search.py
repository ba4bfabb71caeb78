"""Which hunks of a prompt change nothing: groups of them are taken out, and halved where a case is lost.

What is asked of a set of hunks is whether every case still passes without it. Each case runs a few times; one that
fails runs again until its runs fit either those of the whole prompt, or a lost case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil

from msgspec import Struct

from runevals.lib.nullable import mean
from runevals.verdict.blame_search import NOTHING, HunkSet

OF_WHOLE = 8  # runs of the whole prompt, and of the smallest one at the end
FIRST = 3  # runs of each case without a set of hunks
MORE = 3  # runs of one that failed
PASSES = 0.6  # the share of its runs that a case must pass with the whole prompt: below, it is too noisy
LOST = 0.5  # the share that it passes at most if it is lost
MATTERING = 5  # hunks that the calls are planned for
SPARE = 1.5  # for the cases that run again

Key = tuple[str, str]  # suite and key of a case
Values = Mapping[Key, Sequence[float]]


class Ablation(Struct, frozen=True, kw_only=True):
    """The hunks without which nothing is lost, all together; those that must stay; and what was not tried."""

    idle: HunkSet = NOTHING
    needed: HunkSet = NOTHING
    untried: HunkSet = NOTHING
    noisy: Sequence[Key] = ()  # cases that pass too seldom with the whole prompt, or are not measured
    whole: Values = {}  # runs with the whole prompt
    smallest: Values = {}  # fresh runs of the smallest one
    confirmed: bool = False  # these lost no case
    runs: int = 0


Measure = Callable[[HunkSet, Sequence[Key], int], Values | None]


def planned_runs(hunks: int, cases: int, *, deterministic: bool) -> int:
    """The most runs of the search: enough for a few hunks that matter."""
    halvings = max(1, (hunks - 1).bit_length())
    tests = min(2 * hunks, 2 * MATTERING * halvings + 2)
    if deterministic:
        return cases * (tests + 2)
    return ceil(cases * (2 * OF_WHOLE + SPARE * FIRST * tests))


def ablation(
    hunks: int, cases: Sequence[Key], measure: Measure, *, deterministic: bool, limit: int | None = None
) -> Ablation:
    """The search; `limit` is by default `planned_runs`.

    `measure` makes so many runs of these cases without these hunks, and returns their values: cases without one
    count as lost, None ends the search.
    """
    most = planned_runs(hunks, len(cases), deterministic=deterministic)
    return _Search(measure, most if limit is None else limit, deterministic=deterministic).result(hunks, cases)


class _Search:
    def __init__(self, measure: Measure, limit: int, *, deterministic: bool) -> None:
        self._measure = measure
        self._left, self._runs_made = limit, 0
        self._deterministic = deterministic
        self._is_stopped = False

    def result(self, hunks: int, cases: Sequence[Key]) -> Ablation:
        everything = frozenset(range(hunks))
        ends = 1 if self._deterministic else OF_WHOLE
        whole = self._runs(NOTHING, cases, ends) or {}
        usable = [case for case in cases if _share(whole, case) >= PASSES]
        reserve = len(usable) * ends
        self._left -= reserve  # for the confirmation
        idle, needed = NOTHING, NOTHING
        waiting = [sorted(everything)] if usable else []
        while waiting:
            group = waiting.pop()
            loses = self._loses(idle | frozenset(group), usable)
            if loses is None:
                break
            if not loses:
                idle |= frozenset(group)
            elif len(group) == 1:
                needed |= frozenset(group)
            else:
                middle = len(group) // 2
                waiting += [group[middle:], group[:middle]]
        self._left += reserve
        smallest = (self._runs(idle, usable, ends) if idle else None) or {}
        return Ablation(
            idle=idle,
            needed=needed,
            untried=everything - idle - needed,
            noisy=[case for case in cases if case not in usable],
            whole=whole,
            smallest=smallest,
            confirmed=bool(idle) and all(_share(smallest, case) > LOST for case in usable),
            runs=self._runs_made,
        )

    def _loses(self, hunks: HunkSet, cases: Sequence[Key]) -> bool | None:
        """Whether a case is lost without these hunks; None if no more runs can be made."""
        values = self._runs(hunks, cases, 1 if self._deterministic else FIRST)
        if values is None:
            return None
        failing = [case for case in cases if _share(values, case) < 1]
        if self._deterministic or not failing or any(_share(values, case) == 0 for case in failing):
            return bool(failing)
        again = self._runs(hunks, failing, MORE)
        if again is None:
            return None
        every = {case: [*values[case], *again.get(case, ())] for case in failing}
        return any(_share(every, case) <= LOST for case in failing)

    def _runs(self, hunks: HunkSet, cases: Sequence[Key], number: int) -> Values | None:
        """The values of so many runs; None if they may not be made, or all of it was stopped."""
        if self._is_stopped or number * len(cases) > self._left:
            return None
        self._left -= number * len(cases)
        self._runs_made += number * len(cases)
        values = self._measure(hunks, cases, number)
        self._is_stopped = values is None
        return values


def _share(values: Values, case: Key) -> float:
    """The share of its runs that a case passes; 0 without any."""
    return mean(values.get(case, ())) or 0.0
