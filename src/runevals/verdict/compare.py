"""Report + baseline → comparison; which cases may be compared, what changed, how sure we are."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.statistics.permutation_test import BlockedTest
from runevals.lib.text.numbers import plural, short_list
from runevals.records import (
    CaseReport,
    CategoryChange,
    Change,
    Comparison,
    Hypothesis,
    MetricName,
    RegressionRule,
    RunReport,
    Suspect,
    Totals,
)
from runevals.verdict.comparability import (
    both_deterministic,
    caveats_of,
    is_judged,
    judges_differ,
    other_target,
    varies_by_judge,
    without_judge,
)
from runevals.verdict.families import deciding, families
from runevals.verdict.matching import MatchedRuns, Pair, case_changes, change_of, match, one_sided
from runevals.verdict.per_case import flaky_cases, flips, newly_failing_checks, significant_alone
from runevals.verdict.regression import (
    Evidence,
    Strictness,
    level_of,
    rounds_done,
    ruling,
    why_not_comparable,
)
from runevals.verdict.secondary_metrics import metric_changes
from runevals.verdict.suspects import is_critical_case, of_stored_runs
from runevals.verdict.totals import pass_rate, totals
from runevals.verdict.weakenings import weakenings

WORTH_SEEING = 0.05  # a suite too small to detect a drop of 5 points gets the numbers that would


class FreshRuns(Struct, frozen=True):
    """The results of fresh runs of single cases; without any, only the scored runs count."""

    suspects: tuple[Suspect, ...] = ()
    promise_broken: bool = False  # a target that is called deterministic gave two answers to one question


class Sides(Struct, frozen=True):
    """Both reports, reduced to what can be compared."""

    matched: MatchedRuns
    same: list[Pair]  # of equal content
    pairs: list[Pair]  # of these, those that are not quarantined
    of_two_judges: MatchedRuns | None = None  # the cases with the results of judges, if these differ

    @classmethod
    def of(cls, head: RunReport, base: RunReport) -> Sides:
        """Matches the cases; if the judges differ, their results are left out."""
        of_two_judges = None
        if judges_differ(head, base):
            of_two_judges = match(base.cases, head.cases) if head.run.judge and base.run.judge else None
            head, base = without_judge(head), without_judge(base)
        matched = match(base.cases, head.cases)
        same = [pair for pair in matched.both if pair.same_content]
        return cls(matched, same, [pair for pair in same if not pair.head.quarantined], of_two_judges)

    def why_not_comparable(self, suspects: Sequence[Suspect]) -> str:
        """Why too few cases can be compared, without those that two judges scored; else empty."""
        if self.of_two_judges is None:
            return why_not_comparable(self.same, self.matched, suspects)
        alike = [pair for pair in self.of_two_judges.both if pair.same_content and not _is_judged(pair)]
        few = why_not_comparable(alike, self.of_two_judges, suspects)
        return few and f"{few}, or two judges scored them (judge both sides again: compare --rejudge)"

    @property
    def due(self) -> list[Pair]:
        """The pairs that should have values on both sides."""
        return [pair for pair in self.pairs if pair.before.due and pair.now.due]

    @property
    def measured(self) -> list[Pair]:
        """The pairs with values on both sides."""
        return [pair for pair in self.pairs if pair.measured]


def compare(
    head: RunReport,
    base: RunReport,
    source: str,
    strictness: Strictness = Strictness.FINAL,
    rule: RegressionRule = RegressionRule(),  # noqa: B008 - a frozen record
    fresh: FreshRuns | None = None,
) -> Comparison:
    """`head` against `base`; `source` names the origin of the base for messages.

    `fresh` holds the fresh runs of single cases; None if nothing can be run.
    """
    sides = Sides.of(head, base)
    pairs, measured, same = sides.pairs, sides.measured, sides.same
    promised, other_judge = both_deterministic(head, base), judges_differ(head, base)
    deterministic = promised and not (fresh is not None and fresh.promise_broken)
    tested = families(sides.due, level_of(head, pairs, strictness, rule))
    graded = "share" in tested.whole
    metric = _leading(tested.hypotheses, graded=graded)
    test = tested.whole.get(metric)
    suspects = _suspects(pairs, rule, fresh, deterministic=deterministic)
    testable = pairs if deterministic and fresh is not None else []
    few = sides.why_not_comparable(suspects)
    not_comparable = few if pairs else "no case is left"
    if other := other_target(head, base):
        not_comparable = f"{other}; `baseline: {{on_incomparable: pass}}` allows it, once it is merged"
    evidence = Evidence(
        pairs=pairs,
        hypotheses=deciding(tested.hypotheses, deterministic=deterministic),
        suspects=suspects,
        removed_critical=[case for case in sides.matched.removed if is_critical_case(case)],
        not_comparable=not_comparable,
        deterministic=deterministic,
        by_judge=frozenset(pair.key for pair in testable if pair.turned and varies_by_judge(pair)),
        test=test,
        rule=rule,
    )
    result = ruling(evidence)
    comparison = Comparison(
        base=base,
        source=source,
        verdict=result.verdict,
        why=result.why,
        inconclusive_by=result.by,
        shared=len(same),
        compared=len(measured),
        base_cases=len(base.cases),
        base_totals=_totals(base, [pair.base for pair in same], whole=not other_judge),
        head_totals=_totals(head, [pair.head for pair in same], whole=not other_judge),
        deterministic=deterministic,
        rounds_done=rounds_done(pairs),
        rounds_planned=head.run.repeat,
        metric=metric,
        hypotheses=tested.hypotheses,
        suspects=suspects,
        critical_lost=_critical_lost(evidence),
        quarantined=len(same) - len(pairs),
        categories=_categories(same),
        changes=_changes(sides, _sure_losses(evidence)),
        weakenings=tuple(weakenings(head, base, sides.matched)),
        caveats=(
            *_caveats(head, base, rule, promised=promised, deterministic=deterministic),
            *(_of_failing_cases(pairs) if deterministic else ()),
        ),
    )
    if test is None:
        return comparison
    evaluators = base.by_evaluator.keys() & head.by_evaluator.keys()
    beside: MetricName | None = None
    if graded and not deterministic:
        beside = "pass_rate" if metric == "share" else "share"
    others = metric_changes(measured, evaluators, beside=beside)
    return replace(_with_numbers(comparison, test, measured, rule), metrics=others)


def _is_judged(pair: Pair) -> bool:
    return any(
        is_judged(result)
        for case in (pair.base, pair.head)
        for attempt in case.attempts
        for turn in attempt.turns
        for result in turn.results
    )


def _totals(report: RunReport, cases: Sequence[CaseReport], *, whole: bool) -> Totals:
    """Those of the cases that are compared; if these are the whole report, its own."""
    return report.totals if whole and len(cases) == len(report.cases) else totals(cases)


def _leading(hypotheses: Sequence[Hypothesis], *, graded: bool) -> MetricName:
    """The metric that the comparison's numbers are of: the lost one, else the share if it is graded."""
    lost = [
        hypothesis for hypothesis in hypotheses if hypothesis.family == "whole" and hypothesis.finding == "lost"
    ]
    if lost:
        return min(lost, key=lambda hypothesis: hypothesis.corrected_p).metric
    return "share" if graded else "pass_rate"


def _suspects(
    pairs: Sequence[Pair], rule: RegressionRule, fresh: FreshRuns | None, *, deterministic: bool
) -> tuple[Suspect, ...]:
    if fresh is not None:
        return fresh.suspects
    return () if deterministic else of_stored_runs(pairs, rule)


def _sure_losses(evidence: Evidence) -> Container[int]:
    """The places of the pairs that are certainly lost; if the whole is, also those that are significant alone."""
    by_key = {(suspect.suite, suspect.key): suspect.state for suspect in evidence.suspects}
    states = [by_key.get(pair.key) for pair in evidence.pairs]
    if evidence.deterministic:
        sure_states = [
            ("confirmed",) if p.key in evidence.by_judge else ("confirmed", None) for p in evidence.pairs
        ]
        return {place for place, state in enumerate(states) if state in sure_states[place]}
    sure = {place for place, state in enumerate(states) if state == "confirmed"}
    if any(hypothesis.finding == "lost" for hypothesis in evidence.hypotheses):
        sure |= significant_alone(evidence.pairs)
    return sure


def _critical_lost(evidence: Evidence) -> tuple[str, ...]:
    lost = [suspect.key for suspect in evidence.suspects if suspect.critical and suspect.state == "confirmed"]
    return (*lost, *(case.key for case in evidence.removed_critical))


def _changes(sides: Sides, sure: Container[int]) -> tuple[Change, ...]:
    return (
        *case_changes(sides.pairs, confirmed=sure),
        *(change_of(pair, "quarantined") for pair in sides.same if pair.head.quarantined and pair.regressed),
        *(change_of(pair, "edited") for pair in sides.matched.both if not pair.same_content),
        *(one_sided(case, "added") for case in sides.matched.added),
        *(one_sided(case, "removed") for case in sides.matched.removed),
    )


def _caveats(
    head: RunReport, base: RunReport, rule: RegressionRule, *, promised: bool, deterministic: bool
) -> Iterator[str]:
    yield from caveats_of(head, base, rule)
    if promised and not deterministic:
        yield "the target is called deterministic, but gave different answers to the same question"


def _of_failing_cases(pairs: Sequence[Pair]) -> Iterator[str]:
    """What else a deterministic target lost, of the cases that failed before too."""
    checks = newly_failing_checks(pairs, is_judged)
    if checks:
        cases = len({case for case, _ in checks})
        which = short_list([f"{check} in {key}" for (_, key), check in checks])
        passed = f"{plural(len(checks), 'check')} that passed on the base {'fail' if len(checks) > 1 else 'fails'}"
        yield f"{passed} now, in {plural(cases, 'case')} that failed there too: {which}"


def _with_numbers(
    comparison: Comparison, test: BlockedTest, pairs: Sequence[Pair], rule: RegressionRule
) -> Comparison:
    """`comparison` with the numbers of the test, and the cases or runs needed to detect more."""
    detectable = test.noise.detectable_drop(rule.alpha)
    blind = not comparison.deterministic and detectable > WORTH_SEEING
    return replace(
        comparison,
        p_value=test.p_value,
        gain_p_value=test.gain_p_value,
        drop=test.drop,
        base_mean=test.base_mean,
        head_mean=test.head_mean,
        interval=test.interval,
        detectable_drop=detectable,
        rerun_agreement=None if comparison.deterministic else test.noise.agreement(test.drop, rule.alpha),
        cases_needed=test.noise.cases_for(WORTH_SEEING, rule.alpha) if blind else None,
        repeats_needed=test.noise.repeats_for(WORTH_SEEING, rule.alpha) if blind else None,
        repeats_for_half=None if comparison.deterministic else test.noise.repeats_for(detectable / 2, rule.alpha),
        flips=flips(pairs),
        flaky=() if comparison.deterministic else flaky_cases(pairs),
    )


def _categories(pairs: Sequence[Pair]) -> tuple[CategoryChange, ...]:
    groups: dict[str | None, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.base.category, []).append(pair)
    return tuple(
        CategoryChange(
            name=name,
            cases=len(group),
            base_rate=pass_rate([pair.base for pair in group]),
            head_rate=pass_rate([pair.head for pair in group]),
        )
        for name, group in groups.items()
    )
