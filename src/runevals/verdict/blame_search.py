"""Which hunks of a change lost a case: delta debugging, with an exact test of runs in place of one answer.

A hunk that is put back is as it was on the base. Nothing put back is the head, which loses the case; everything
put back restores it, or the cause is not among the hunks. What is asked of a set of hunks is whether putting it
back restores the case; its runs are compared with those of both ends until one of them is ruled out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Literal, TypeVar

from msgspec import Struct

from runevals.lib.statistics.permutation_test import case_p_value

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

RUNS = 8  # of each end
LEVEL = 0.01  # of one comparison of two sets of runs
HOPELESS_P = 0.4  # of both ends after RUNS runs a side: more runs would not tell them apart
FIRST = 3  # runs of a set of hunks: the fewest that can decide
MOST = 16  # runs of a set of hunks: after these, the nearer end counts
UNCLEAR = 0.4  # of the way from one end to the other: in the middle between these, neither is near
PASSES = 0.7  # the share of its runs that a case passes if it is not lost
AT_ONCE = 4  # runs of one side, before those of the other side

HunkSet = frozenset[int]
NOTHING: HunkSet = frozenset()
WhyNot = Literal["passes", "elsewhere", "noise", "limit", "unmeasured", "stopped"]


class RunsNeeded(Struct, frozen=True):
    """A demand for so many runs of a case, with these hunks put back."""

    put_back: HunkSet
    runs: int


class SearchResult(Struct, frozen=True, kw_only=True):
    """Putting `put_back` back restores the case; it was lost by `lost_by`, together. Both are empty if not known.

    `why_not`: it passes on the head; the cause is elsewhere; the ends differ too little; the limit was reached; an
    end could not be measured; the whole search was stopped.
    """

    put_back: HunkSet = NOTHING
    lost_by: HunkSet = NOTHING
    head: tuple[float, ...] = ()  # values of the head's runs
    restored: tuple[float, ...] = ()  # and of those with `put_back`, or everything, put back
    why_not: WhyNot | None = None


CaseSearch = Generator[RunsNeeded, Sequence[float], SearchResult]
Measure = Callable[[HunkSet, Mapping[K, int]], Mapping[K, Sequence[float]] | None]


def most_runs(hunks: int) -> int:
    """The most runs of one case: a few comparisons for each halving of the hunks."""
    return MOST * (2 + 4 * max(0, hunks - 1).bit_length())


def usual_runs(hunks: int, *, deterministic: bool) -> int:
    """The runs of one case with a clear answer: both ends, two sets for each halving, and the confirmation."""
    of_end, of_set = (1, 1) if deterministic else (RUNS, FIRST)
    return 2 * (of_end * min(hunks, 2) + of_set * max(0, hunks - 1).bit_length())


def searched(searches: Mapping[K, CaseSearch], measure: Measure[K]) -> dict[K, SearchResult]:
    """The searches of all cases, side by side: a set of hunks is put back once for all cases that need it next.

    `measure` returns the values of the runs that it could make, 0 to 1 each: with none, the set counts as one that
    does not restore the case. None in place of all ends the search.
    """
    results: dict[K, SearchResult] = {}
    waiting: dict[K, RunsNeeded] = {}

    def go_on(key: K, values: Sequence[float] | None) -> None:
        search = searches[key]
        try:
            waiting[key] = next(search) if values is None else search.send(values)
        except StopIteration as end:
            waiting.pop(key, None)
            results[key] = end.value

    for key in searches:
        go_on(key, None)
    while waiting:
        put_back = next(iter(waiting.values())).put_back
        needed = {key: one.runs for key, one in waiting.items() if one.put_back == put_back}
        values = measure(put_back, needed)
        if values is None:
            return results | {key: SearchResult(why_not="stopped") for key in waiting}
        for key in needed:
            go_on(key, values.get(key, ()))
    return results


def search_case(hunks: int, *, deterministic: bool = False, limit: int | None = None) -> CaseSearch:
    """The search for one case among so many hunks: yields the runs that it needs, and takes their values.

    With a `deterministic` target, one run of each set is enough.
    """
    search = _Search(frozenset(range(hunks)), most_runs(hunks) if limit is None else limit, deterministic)
    try:
        return (yield from search.result())
    except _NotFound as end:
        return SearchResult(head=tuple(search.lost), restored=tuple(search.restored), why_not=end.why)


class _NotFound(Exception):
    def __init__(self, why: WhyNot) -> None:
        super().__init__(why)
        self.why: WhyNot = why


_Steps = Generator[RunsNeeded, Sequence[float], T]


class _Search(Struct):
    everything: HunkSet
    left: int  # runs that may be made yet
    deterministic: bool
    lost: list[float] = []  # runs of the head
    restored: list[float] = []  # runs with everything put back
    known: dict[HunkSet, bool] = {}
    any_unrun: bool = False  # a set of hunks could not be run

    def result(self) -> _Steps[SearchResult]:
        yield from self._ends()
        put_back: HunkSet = frozenset({(yield from self._pivot(NOTHING, self.everything))})
        while not (yield from self._restores(put_back)):  # each of several hunks loses it alone
            put_back |= {(yield from self._pivot(put_back, self.everything))}
        put_back = yield from self._fewest(put_back, self._restores)
        put_back = yield from self._alone(put_back)
        lost_by = put_back if len(put_back) > 1 else (yield from self._together(put_back))
        head, restored = yield from self._confirmed(put_back)
        return SearchResult(put_back=put_back, lost_by=lost_by, head=head, restored=restored)

    def _ends(self) -> _Steps[None]:
        """The runs of both ends. Raises _NotFound if they cannot be told apart."""
        yield from self._in_turn(self.everything, self.lost, self.restored)
        if not self.lost or not self.restored:
            raise _NotFound("unmeasured")
        if not self._differ(self.lost, self.restored):
            raise _NotFound(self._why_alike())
        self.known |= {NOTHING: False, self.everything: True}

    def _why_alike(self) -> WhyNot:
        if fmean(self.lost) >= PASSES:
            return "passes"
        return "elsewhere" if fmean(self.restored) < 1 - PASSES else "noise"

    def _confirmed(self, put_back: HunkSet) -> _Steps[tuple[tuple[float, ...], tuple[float, ...]]]:
        """Further runs of the head and of what was found, in turn: those that chose it do not confirm it."""
        if put_back == self.everything:
            return tuple(self.lost), tuple(self.restored)
        head: list[float] = []
        restored: list[float] = []
        yield from self._in_turn(put_back, head, restored)
        if not head or not restored or not self._differ(head, restored):
            raise _NotFound("noise")
        return tuple(head), tuple(restored)

    def _in_turn(self, put_back: HunkSet, head: list[float], restored: list[float]) -> _Steps[None]:
        """Runs of the head and of `put_back` in turn, so that an outage affects both alike."""
        most = 1 if self.deterministic else RUNS
        while len(head) < most or len(restored) < most:
            at_once = min(AT_ONCE, most)
            arrived = [
                (yield from self._runs(NOTHING, at_once, head)),
                (yield from self._runs(put_back, at_once, restored)),
            ]
            if not all(arrived):
                return
            if not self.deterministic and len(head) == most < MOST:
                p = case_p_value(restored, head)
                most += AT_ONCE if LEVEL < p <= HOPELESS_P else 0

    def _differ(self, head: Sequence[float], restored: Sequence[float]) -> bool:
        if self.deterministic:
            return restored[-1] > head[-1]
        return case_p_value(restored, head) <= LEVEL

    def _runs(self, put_back: HunkSet, number: int, values: list[float]) -> _Steps[int]:
        """Adds the values of so many runs → how many arrived. Raises _NotFound at the limit."""
        if number > self.left:
            raise _NotFound("limit")
        self.left -= number
        arrived = yield RunsNeeded(put_back, number)
        values += arrived
        return len(arrived)

    def _restores(self, put_back: HunkSet) -> _Steps[bool]:
        """Whether the case passes as on the base with these hunks put back."""
        values: list[float] = []
        while put_back not in self.known:
            number = 1 if values or self.deterministic else FIRST
            if not (yield from self._runs(put_back, number, values)):
                self.known[put_back] = False
                self.any_unrun = True
            elif (answer := self._answer(values)) is not None:
                self.known[put_back] = answer
        return self.known[put_back]

    def _answer(self, values: Sequence[float]) -> bool | None:
        """Whether these are runs of a case that is restored; None if it takes more of them."""
        if self.deterministic:
            return values[-1] >= self.restored[-1]
        better = case_p_value(values, self.lost) <= LEVEL
        worse = case_p_value(self.restored, values) <= LEVEL
        if better or worse:
            return not worse  # better than the head, but not as good as the base: in part
        if len(values) < MOST:
            return None
        place = (fmean(values) - fmean(self.lost)) / (fmean(self.restored) - fmean(self.lost))
        if UNCLEAR < place < 1 - UNCLEAR:
            raise _NotFound("noise")
        return place > 0.5

    def _pivot(self, low: HunkSet, high: HunkSet) -> _Steps[int]:
        """A hunk that makes the difference between two sets: `low` does not restore the case, `high` does.

        Halves what is between them; neighbours stay together.
        """
        between = sorted(high - low)
        while len(between) > 1:
            half = between[: len(between) // 2]
            if (yield from self._restores(low | frozenset(half))):
                between = half
            else:
                low, between = low | frozenset(half), between[len(half) :]
        return between[0]

    def _together(self, put_back: HunkSet) -> _Steps[HunkSet]:
        """The hunks that lose the case only together with this one: alone, it would not have lost it."""
        lost_by = put_back
        while (yield from self._restores(self.everything - lost_by)):
            lost_by |= {(yield from self._pivot(NOTHING, self.everything - lost_by))}
        return (yield from self._fewest(lost_by, self._loses, put_back))

    def _loses(self, hunks: HunkSet) -> _Steps[bool]:
        """Whether these hunks alone lose the case."""
        return not (yield from self._restores(self.everything - hunks))

    def _alone(self, put_back: HunkSet) -> _Steps[HunkSet]:
        """One of these that restores the case alone, which `_fewest` misses if two others cannot be parted."""
        for hunk in sorted(put_back) if self.any_unrun and len(put_back) > 2 else ():
            if (yield from self._restores(frozenset({hunk}))):
                return frozenset({hunk})
        return put_back

    def _fewest(
        self, hunks: HunkSet, holds: Callable[[HunkSet], _Steps[bool]], without: Iterable[int] = ()
    ) -> _Steps[HunkSet]:
        """Leaves out each hunk without which it still holds."""
        for hunk in sorted(hunks - frozenset(without)):
            if (yield from holds(hunks - {hunk})):
                hunks -= {hunk}
        return hunks
