"""Cases → counts, rates, means and sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil

from runevals.lib.nullable import mean, total, whole_total
from runevals.records import LABELS, CaseReport, Coverage, Outcome, Totals


def totals(cases: Sequence[CaseReport]) -> Totals:
    """Counts by status, means and sums."""
    attempts = [attempt for case in cases for attempt in case.attempts]
    turns = [turn for attempt in attempts for turn in attempt.turns]
    by_status = _count(case.status for case in cases)
    answered = [turn for turn in turns if turn.error is None]
    talks = [turn.conversation.cost_usd for turn in turns if turn.conversation is not None]
    judged = [result for turn in turns for result in turn.results if result.judge_model is not None]
    latencies = sorted(turn.latency_s for turn in turns if turn.latency_s is not None)
    return Totals(
        cases=len(cases),
        passed=by_status[Outcome.PASSED],
        failed=by_status[Outcome.FAILED],
        errored=by_status[Outcome.ERRORED],
        skipped=by_status[Outcome.SKIPPED],
        pass_rate=pass_rate(cases),
        composite=mean(case.composite for case in cases),
        cost_usd=total(turn.cost_usd for turn in answered),
        judge_cost_usd=total([*(result.cost_usd for result in judged), *talks]),
        judge_cached=sum(result.cached for result in judged),
        cached=sum(turn.cached for turn in turns),
        input_tokens=whole_total(turn.input_tokens for turn in answered),
        output_tokens=whole_total(turn.output_tokens for turn in answered),
        latency_p95_s=latencies[ceil(0.95 * len(latencies)) - 1] if latencies else None,
    )


def pass_rate(cases: Sequence[CaseReport]) -> float | None:
    """Over attempts, errored ones in the denominator, skipped ones not; None if nothing was measured."""
    statuses = _count([attempt.status for case in cases for attempt in case.attempts])
    measured = statuses[Outcome.PASSED] + statuses[Outcome.FAILED]
    return statuses[Outcome.PASSED] / (measured + statuses[Outcome.ERRORED]) if measured else None


def coverage(cases: Sequence[CaseReport]) -> Iterator[Coverage]:
    """By each label that any of the cases has, and by category."""
    for label in (*LABELS, "category"):
        groups: dict[str, list[CaseReport]] = defaultdict(list)
        without = 0
        for case in cases:
            values = case.labels.get(label, ()) if label != "category" else (case.category or "",)
            without += not any(values)
            for value in filter(None, values):
                groups[value].append(case)
        if groups:
            counted = {value: totals(group) for value, group in groups.items()}
            yield Coverage(label=label, groups=counted, without=without)


def by_evaluator(cases: Sequence[CaseReport]) -> Mapping[str, Totals]:
    """The checks of each evaluator, counted."""
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for case in cases:
        for attempt in case.attempts:
            for turn in attempt.turns:
                for result in turn.results:
                    outcomes[result.id].append(result.outcome)
    return {name: _check_totals(results) for name, results in outcomes.items()}


def _check_totals(outcomes: Sequence[Outcome]) -> Totals:
    counts = _count(outcomes)
    counted = len(outcomes) - counts[Outcome.SKIPPED]
    return Totals(
        cases=len(outcomes),
        passed=counts[Outcome.PASSED],
        failed=counts[Outcome.FAILED],
        errored=counts[Outcome.ERRORED],
        skipped=counts[Outcome.SKIPPED],
        pass_rate=counts[Outcome.PASSED] / counted if counted else None,
        composite=None,
    )


def _count(outcomes: Iterable[Outcome]) -> dict[Outcome, int]:
    values = list(outcomes)
    return {outcome: values.count(outcome) for outcome in Outcome}
