"""Which cases notice a hunk: their runs with it, against those with it alone put back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from runevals.lib.nullable import grouped
from runevals.lib.statistics.multiple_testing import holm
from runevals.lib.statistics.permutation_test import case_blocked_test, case_p_value
from runevals.records import AttemptReport

LEVEL = 0.05  # of all hunks of a change: half for single cases, half for the cases together

Key = tuple[str, str]  # suite and key of a case
Runs = Mapping[Key, Sequence[AttemptReport]]


class Noticed(Struct, frozen=True, kw_only=True):
    """What the cases say about one hunk."""

    by: tuple[Key, ...] = ()
    p_value: float | None = None  # of all cases together, if they differ and no single one surely does
    unmeasured: int = 0  # cases without a value on one side


def noticed(head: Runs, put_back: Sequence[Runs], *, deterministic: bool) -> list[Noticed]:
    """For each hunk, what differs between the head's runs and those with it put back.

    With a `deterministic` target every difference counts. Otherwise the exact tests decide, in both directions,
    corrected over all hunks (Holm): that of each case, and the paired one over all cases.
    """
    if deterministic:
        return [_by_any_difference(head, runs) for runs in put_back]
    sides = [{key: (_values(runs.get(key, ())), _values(head[key])) for key in head} for runs in put_back]
    compared = [{key: both for key, both in side.items() if all(both)} for side in sides]
    single = [
        (number, key, min(1.0, 2 * min(case_p_value(before, now), case_p_value(now, before))))
        for number, side in enumerate(compared)
        for key, (before, now) in side.items()
    ]
    corrected = zip(single, holm([p for _, _, p in single]), strict=True)
    sure = grouped((number, key) for (number, key, _), p in corrected if p <= LEVEL / 2)
    together = holm([_whole_p(side) for side in compared])
    answer = []
    for number, side in enumerate(compared):
        by = tuple(sure.get(number, ()))
        p = together[number] if not by and together[number] <= LEVEL / 2 else None
        answer.append(Noticed(by=by, p_value=p, unmeasured=len(head) - len(side)))
    return answer


def _by_any_difference(head: Runs, put_back: Runs) -> Noticed:
    sides = {key: (_results(put_back.get(key, ())), _results(runs)) for key, runs in head.items()}
    compared = {key: both for key, both in sides.items() if all(both)}
    by = tuple(key for key, (before, now) in compared.items() if before != now)
    return Noticed(by=by, unmeasured=len(sides) - len(compared))


def _results(runs: Sequence[AttemptReport]) -> list[tuple[object, ...]]:
    return [(run.status, run.composite) for run in runs if run.value is not None]


def _values(runs: Sequence[AttemptReport]) -> tuple[float, ...]:
    return tuple(value for run in runs if (value := run.value) is not None)


def _whole_p(side: Mapping[Key, tuple[Sequence[float], Sequence[float]]]) -> float:
    if not side:
        return 1.0
    test = case_blocked_test(*({key: both[at] for key, both in side.items()} for at in (0, 1)))
    return min(1.0, 2 * min(test.p_value, test.gain_p_value))
