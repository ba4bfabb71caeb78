"""Cases → counts, rates, means and sums."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import ceil

from msgspec import Struct

from runevals.lib.nullable import mean, total, whole_total
from runevals.lib.statistics.agreement import krippendorff_alpha
from runevals.records import (
    LABELS,
    CaseReport,
    CheckResult,
    Coverage,
    Outcome,
    RunReport,
    Totals,
    TurnReport,
    VoteAgreement,
)
from runevals.records.rules import CATEGORY_GATES

SKILL = "skill"  # the type of the target whose cases are of one skill each
_CONTESTED = 0.5  # votes: of the scale, between the lowest and the highest; two steps of 1–5


class Summary(Struct, frozen=True, kw_only=True):
    """What a report says of all its cases together."""

    totals: Totals
    by_category: Mapping[str, Totals]
    by_evaluator: Mapping[str, Totals]  # counts of checks instead of cases
    coverage: tuple[Coverage, ...]
    agreement: tuple[VoteAgreement, ...]


def summary_of(cases: Iterable[CaseReport]) -> Summary:
    """All counts, means and sums in one pass, so that each answer is read once."""
    everything, votes = _Sums(), _Votes()
    categories: dict[str, _Sums] = defaultdict(_Sums)
    labelled: dict[str, dict[str, _Sums]] = {label: defaultdict(_Sums) for label in LABELS}
    unlabelled: Counter[str] = Counter()
    checks: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for case in cases:
        turns = _turns_of(case)
        groups = [everything, categories[case.category or ""]]
        for label, sums in labelled.items():
            values = [*filter(None, case.labels.get(label, ()))]
            unlabelled[label] += not values
            groups += [sums[value] for value in values]
        for group in groups:
            group.add(case, turns)
        for turn in turns:
            for result in turn.results:
                checks[result.id][result.outcome] += 1
                votes.add(result)
    without = categories.pop("", _Sums()).cases
    by_category = {name: sums.totals() for name, sums in categories.items()}
    by_label = {
        label: ({value: each.totals() for value, each in sums.items()}, unlabelled[label])
        for label, sums in labelled.items()
    }
    return Summary(
        totals=everything.totals(),
        by_category=by_category,
        by_evaluator={name: _check_totals(outcomes) for name, outcomes in checks.items()},
        coverage=tuple(
            Coverage(label=label, groups=groups_, without=count)
            for label, (groups_, count) in {**by_label, "category": (by_category, without)}.items()
            if groups_
        ),
        agreement=votes.agreement(),
    )


def groups_without_cases(report: RunReport) -> list[str]:
    """ "text_echo has no redteam case": the skills under test without a case in a category that has a gate."""
    if report.run.target.type != SKILL:
        return []
    categories: dict[str, set[str | None]] = defaultdict(set)
    for case in report.cases:
        categories[case.group or case.suite].add(case.category)
    return [
        f"{name} has no {category} case"
        for name, has in categories.items()
        for category, _ in CATEGORY_GATES
        if category not in has
    ]


def totals(cases: Iterable[CaseReport]) -> Totals:
    """Counts by status, means and sums."""
    sums = _Sums()
    for case in cases:
        sums.add(case, _turns_of(case))
    return sums.totals()


def _turns_of(case: CaseReport) -> list[TurnReport]:
    return [turn for attempt in case.attempts for turn in attempt.turns]


class _Amounts:
    """Amounts that may be unknown; the sum of an exact kind, so that it does not depend on their order."""

    def __init__(self) -> None:
        self.known = array("d")
        self._unknown = 0

    def add(self, amount: float | None) -> None:
        if amount is None:
            self._unknown += 1
        else:
            self.known.append(amount)

    def total(self) -> float | None:
        """Unknown if one of them is, or if there are none."""
        return None if self._unknown else total(self.known)

    def whole_total(self) -> int | None:
        """The total as a whole number."""
        return whole_total([self.total()])


class _Votes:
    """The votes on the checks of a run, by evaluator."""

    def __init__(self) -> None:
        self._votes: dict[str, list[list[float]]] = defaultdict(list)
        self._contested: Counter[str] = Counter()

    def add(self, result: CheckResult) -> None:
        """Adds the votes on one check, if there are several."""
        if result.details and len(votes := _votes_of(result)) > 1:
            self._votes[result.id].append(votes)
            low, high = result.scale
            self._contested[result.id] += high is not None and max(votes) - min(votes) >= _CONTESTED * (high - low)

    def agreement(self) -> tuple[VoteAgreement, ...]:
        """One entry for each evaluator whose checks were voted on."""
        return tuple(
            VoteAgreement(
                evaluator=name, checks=len(votes), alpha=krippendorff_alpha(votes), contested=self._contested[name]
            )
            for name, votes in self._votes.items()
        )


def _votes_of(result: CheckResult) -> list[float]:
    """The votes that were given, on the evaluator's own scale."""
    votes = result.details.get("votes", ())
    return [float(vote) for vote in votes if vote is not None] if isinstance(votes, list | tuple) else []


class _Sums:
    """The totals of cases that are added one by one."""

    def __init__(self) -> None:
        self.cases = 0
        self._statuses: Counter[Outcome] = Counter()
        self._attempts: Counter[Outcome] = Counter()
        self._composites, self._latencies = _Amounts(), _Amounts()
        self._cost, self._judge_cost = _Amounts(), _Amounts()
        self._input_tokens, self._output_tokens = _Amounts(), _Amounts()
        self._cached = self._judge_cached = 0

    def add(self, case: CaseReport, turns: Iterable[TurnReport]) -> None:
        """One case, and the turns of all its attempts."""
        self.cases += 1
        self._statuses[case.status] += 1
        self._composites.add(case.composite)
        for attempt in case.attempts:
            self._attempts[attempt.status] += 1
        for turn in turns:
            self._cached += turn.cached
            self._latencies.add(turn.latency_s)
            if turn.error is None:
                self._cost.add(turn.cost_usd)
                self._input_tokens.add(turn.input_tokens)
                self._output_tokens.add(turn.output_tokens)
            if turn.conversation is not None:
                self._judge_cost.add(turn.conversation.cost_usd)
            for result in turn.results:
                if result.judge_model is not None:
                    self._judge_cost.add(result.cost_usd)
                    self._judge_cached += result.cached

    def totals(self) -> Totals:
        """The totals of the cases so far."""
        latencies = sorted(self._latencies.known)
        return Totals(
            cases=self.cases,
            **{outcome.value: self._statuses[outcome] for outcome in Outcome},
            pass_rate=_rate(self._attempts),
            composite=mean(self._composites.known),
            cost_usd=self._cost.total(),
            judge_cost_usd=self._judge_cost.total(),
            judge_cached=self._judge_cached,
            cached=self._cached,
            input_tokens=self._input_tokens.whole_total(),
            output_tokens=self._output_tokens.whole_total(),
            latency_p95_s=latencies[ceil(0.95 * len(latencies)) - 1] if latencies else None,
        )


def pass_rate(cases: Iterable[CaseReport]) -> float | None:
    """Over attempts, errored ones in the denominator, skipped ones not; None if nothing was measured."""
    return _rate(Counter(attempt.status for case in cases for attempt in case.attempts))


def _rate(attempts: Mapping[Outcome, int]) -> float | None:
    measured = attempts[Outcome.PASSED] + attempts[Outcome.FAILED]
    return attempts[Outcome.PASSED] / (measured + attempts[Outcome.ERRORED]) if measured else None


def _check_totals(counts: Mapping[Outcome, int]) -> Totals:
    checks = sum(counts.values())
    counted = checks - counts[Outcome.SKIPPED]
    return Totals(
        cases=checks,
        **{outcome.value: counts[outcome] for outcome in Outcome},
        pass_rate=counts[Outcome.PASSED] / counted if counted else None,
        composite=None,
    )
