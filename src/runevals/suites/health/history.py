"""Hints from past results: cases without any difference, and cases that are far slower or costlier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from msgspec import Struct

from runevals.lib.nullable import grouped, total
from runevals.lib.text.numbers import money, seconds
from runevals.records import Case, CaseReport, RunReport
from runevals.suites.health.hint import Hint, Kind, case_label

FEWEST_VERSIONS = 3
FEWEST_CASES = 8  # for a typical value
FAR = 5.0  # times the scaled median absolute deviation above the median
TIMES = 2.0  # and at least so many times the median
TO_SIGMA = 1.4826  # of a normal distribution, the standard deviation for each median absolute deviation

Key = tuple[str, str]
_DID: Mapping[frozenset[float | None], str] = {
    frozenset({1.0}): "passed; keep it if it guards something, otherwise make it harder",
    frozenset({0.0}): "failed; it cannot show a loss: fix the program under test, or the case",
}


def indifferent(cases: Sequence[Case], past: Sequence[RunReport]) -> Iterator[Hint]:
    """Cases with the same outcome in every run of several versions."""
    versions = _by_version(past)
    for case in cases:
        alike = (
            [old for old in version.get((case.suite, case.key), ()) if old.fingerprint == case.fingerprint]
            for version in versions
        )
        outcomes = [rates for olds in alike if (rates := {old.pass_rate for old in olds} - {None})]
        did = _DID.get(frozenset[float | None]().union(*outcomes))
        if len(outcomes) >= FEWEST_VERSIONS and did is not None:
            message = f"{case_label(case)}: in each of {len(outcomes)} versions every run of it {did}"
            yield Hint(kind="tells nothing apart", location=case.location, message=message)


class _Amount(Struct, frozen=True, kw_only=True):
    """What a run of a case takes; `least` is what is worth a hint."""

    kind: Kind
    field: str  # of a turn
    least: float
    says: Callable[[float], str]
    advice: str


AMOUNTS = (
    _Amount(
        kind="slow",
        field="latency_s",
        least=1.0,
        says=lambda value: f"takes {seconds(value)}",
        advice="a shorter prompt, or fewer turns, saves this in every run",
    ),
    _Amount(
        kind="costly",
        field="cost_usd",
        least=0.01,
        says=lambda value: f"costs {money(value)}",
        advice="see whether it tests so much more than they do",
    ),
)


def far_above(cases: Sequence[Case], past: Sequence[RunReport], amount: _Amount) -> Iterator[Hint]:
    """Cases that take far more than the others; those of which it is not known are ignored."""
    typical = _typical(past, amount.field)
    values_ = [typical[key] for case in cases if (key := (case.suite, case.key)) in typical]
    if len(values_) < FEWEST_CASES:
        return
    middle = median(values_)
    spread = TO_SIGMA * median(abs(value - middle) for value in values_)
    limit = max(amount.least, middle + FAR * spread, TIMES * middle)
    for case in cases:
        value = typical.get((case.suite, case.key))
        if value is not None and value > limit:
            beside = f"{amount.says(value)}, where the middle case {amount.says(middle)}"
            message = f"{case_label(case)}: {beside}; {amount.advice}"
            yield Hint(kind=amount.kind, location=case.location, message=message)


def _typical(past: Sequence[RunReport], amount: str) -> dict[Key, float]:
    """The median over all runs of each case of which this field of turns, in all, is known."""
    sums = (
        ((case.suite, case.key), total(getattr(turn, amount) for turn in attempt.turns))
        for report in past
        for case in report.cases
        for attempt in case.attempts
    )
    all_values = grouped((key, value) for key, value in sums if value is not None)
    return {key: median(values) for key, values in all_values.items()}


def _by_version(past: Sequence[RunReport]) -> list[dict[Key, list[CaseReport]]]:
    """The results of one commit are one version; a result without a commit is its own version."""
    reports = grouped((report.run.commit or number, report) for number, report in enumerate(past))
    return [
        grouped(((case.suite, case.key), case) for report in version for case in report.cases)
        for version in reports.values()
    ]
