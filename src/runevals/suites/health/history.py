"""What past results say of cases: which never made a difference, and which take or cost far more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from runevals.lib.nullable import total
from runevals.lib.text.numbers import money, seconds
from runevals.records import AttemptReport, Case, CaseReport, RunReport
from runevals.suites.health.hint import Hint, Kind, named

FEWEST_VERSIONS = 3
FEWEST_CASES = 8  # to say what is usual among them
FAR = 5.0  # times the scaled median absolute deviation above the median
TIMES = 2.0  # and at least so many times the median
TO_SIGMA = 1.4826  # of a normal distribution, the standard deviation for each median absolute deviation

Key = tuple[str, str]


def indifferent(cases: Sequence[Case], past: Sequence[RunReport]) -> Iterator[Hint]:
    """Cases that came out alike, every run of them, in each of several versions."""
    versions = _by_version(past)
    for case in cases:
        found = [
            rates
            for version in versions
            if (rates := {old.pass_rate for old in version.get(_key(case), ()) if _measured(old, case)})
        ]
        if len(found) < FEWEST_VERSIONS or len(set().union(*found)) != 1:
            continue
        (rate,) = found[0]
        if rate not in (0.0, 1.0):
            continue
        did = (
            "passed; keep it if it guards something, else make it harder"
            if rate
            else "failed; no loss can show in it: mend what it tests, or the case"
        )
        told = f"{named(case)}: in each of {len(found)} versions every run of it {did}"
        yield Hint(kind="tells nothing apart", location=case.location, message=told)


def slow(cases: Sequence[Case], past: Sequence[RunReport]) -> Iterator[Hint]:
    """Cases that take far longer than the others."""
    todo = "a shorter prompt, or fewer turns, saves this in every run"
    yield from _far_above(cases, past, "slow", _latency_s, lambda value: f"takes {seconds(value)}", todo)


def costly(cases: Sequence[Case], past: Sequence[RunReport]) -> Iterator[Hint]:
    """Cases that cost far more than the others; one whose cost nobody knows is none."""
    todo = "see whether it tests so much more than they do"
    yield from _far_above(cases, past, "costly", _cost_usd, lambda value: f"costs {money(value)}", todo)


def _far_above(
    cases: Sequence[Case],
    past: Sequence[RunReport],
    kind: Kind,
    amount: Callable[[AttemptReport], float | None],
    told: Callable[[float], str],
    todo: str,
) -> Iterator[Hint]:
    typical = _typical(past, amount)
    known = [typical[_key(case)] for case in cases if _key(case) in typical]
    if len(known) < FEWEST_CASES:
        return
    middle = median(known)
    spread = TO_SIGMA * median(abs(value - middle) for value in known)
    limit = max(middle + FAR * spread, TIMES * middle)
    for case in cases:
        value = typical.get(_key(case))
        if value is not None and value > limit:
            message = f"{named(case)}: {told(value)}, where the middle case {told(middle)}; {todo}"
            yield Hint(kind=kind, location=case.location, message=message)


def _typical(past: Sequence[RunReport], amount: Callable[[AttemptReport], float | None]) -> dict[Key, float]:
    """The median over all runs of each case of which it is known."""
    found: dict[Key, list[float]] = defaultdict(list)
    for report in past:
        for case in report.cases:
            for attempt in case.attempts:
                if (value := amount(attempt)) is not None:
                    found[case.suite, case.key].append(value)
    return {key: median(values) for key, values in found.items()}


def _latency_s(attempt: AttemptReport) -> float | None:
    return total(turn.latency_s for turn in attempt.turns)


def _cost_usd(attempt: AttemptReport) -> float | None:
    return total(turn.cost_usd for turn in attempt.turns)


def _by_version(past: Sequence[RunReport]) -> list[dict[Key, list[CaseReport]]]:
    """The results of one commit are of one version; a result without a commit is one by itself."""
    versions: dict[object, dict[Key, list[CaseReport]]] = {}
    for number, report in enumerate(past):
        version = versions.setdefault(report.run.commit or number, defaultdict(list))
        for case in report.cases:
            version[case.suite, case.key].append(case)
    return list(versions.values())


def _measured(old: CaseReport, case: Case) -> bool:
    return old.fingerprint == case.fingerprint and old.pass_rate is not None


def _key(case: Case) -> Key:
    return case.suite, case.key
