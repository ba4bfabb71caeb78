"""Report + baseline → comparison; which cases may be compared, what changed, how sure we are."""

from __future__ import annotations

from collections.abc import Container, Sequence

from msgspec.structs import replace

from runevals.lib.nullable import grouped
from runevals.lib.statistics.permutation_test import BlockedTest
from runevals.records import (
    CaseReport,
    CategoryChange,
    Comparison,
    Finding,
    MetricName,
    RegressionRule,
    RunReport,
    State,
    Totals,
)
from runevals.verdict.comparability import caveats_of, judges_differ
from runevals.verdict.findings import FreshEvidence, findings_of, is_improved, state_of
from runevals.verdict.matching import Pair, case_changes, change_of, one_sided
from runevals.verdict.parts import parts_of
from runevals.verdict.per_case import flaky_cases, flips, significant_alone
from runevals.verdict.secondary_metrics import metric_changes
from runevals.verdict.sides import Sides
from runevals.verdict.totals import pass_rate, totals
from runevals.verdict.weakenings import weakenings

# Of alpha: of the whole and its parts where nothing can be run again; single cases have the rest.
STORED_LEVEL = 0.75
WORTH_SEEING = 0.05  # a suite too small to detect a drop of 5 points gets the numbers that would


def compare(
    head: RunReport,
    base: RunReport,
    source: str,
    rule: RegressionRule = RegressionRule(),  # noqa: B008 - a frozen record
    fresh: FreshEvidence | None = None,
) -> Comparison:
    """`head` against `base`; `source` names the origin of the base for messages.

    `fresh` holds what fresh runs of both sides say; None if nothing can be run.
    """
    return compare_sides(Sides.of(head, base), source, rule, fresh)


def compare_sides(
    sides: Sides, source: str, rule: RegressionRule, fresh: FreshEvidence | None = None
) -> Comparison:
    """Compares sides whose cases are matched already."""
    head, base = sides.head, sides.base
    pairs, measured, same = sides.pairs, sides.measured, sides.same
    promised, other_judge = sides.deterministic, judges_differ(head, base)
    evidence = fresh or FreshEvidence()
    deterministic = promised and not evidence.determinism_violated
    tested = parts_of(sides.due, rule, alpha=rule.alpha * (STORED_LEVEL if fresh is None else 1.0))
    findings = findings_of(sides, tested, rule, fresh, deterministic=deterministic)
    caveats = [*caveats_of(head, base, rule)]
    if promised and not deterministic:
        caveats.append("what answers is taken as deterministic, but gave different answers to the same question")
    metric = _leading(findings, measured)
    test = tested.whole.get(metric)
    comparison = Comparison(
        base=base,
        source=source,
        state=state_of(findings),
        findings=findings,
        improved=is_improved(sides, test, rule, evidence, deterministic=deterministic),
        shared=len(same),
        compared=len(measured),
        base_cases=len(base.cases),
        base_totals=_totals(base, [pair.base for pair in pairs], whole=not other_judge),
        head_totals=_totals(head, [pair.head for pair in pairs], whole=not other_judge),
        deterministic=deterministic,
        rounds_done=max((len(pair.head.attempts) for pair in pairs), default=1),
        rounds_planned=head.run.repeat,
        metric=metric,
        quarantined=len(same) - len(pairs),
        categories=_categories(same),
        changes=(
            *case_changes(pairs, confirmed=_sure_losses(sides, findings)),
            *(change_of(pair, "quarantined") for pair in same if pair.head.quarantined and pair.regressed),
            *(change_of(pair, "edited") for pair in sides.matched.both if not pair.same_content),
            *(one_sided(case, "added") for case in sides.matched.added),
            *(one_sided(case, "removed") for case in sides.matched.removed),
        ),
        weakenings=tuple(weakenings(head, base, sides.matched)),
        caveats=tuple(caveats),
        fresh=evidence.source,
    )
    if test is None:
        return comparison
    evaluators = base.by_evaluator.keys() & head.by_evaluator.keys()
    beside = None if deterministic else next(iter(tested.whole.keys() - {metric}), None)
    others = metric_changes(measured, evaluators, beside=beside)
    return replace(_with_numbers(comparison, test, measured, rule), metrics=others)


def _totals(report: RunReport, cases: Sequence[CaseReport], *, whole: bool) -> Totals:
    """The totals of the cases that are compared; if these are the whole report, its own."""
    return report.totals if whole and len(cases) == len(report.cases) else totals(cases)


def _leading(findings: Sequence[Finding], pairs: Sequence[Pair]) -> MetricName:
    """The metric that the comparison's numbers are of: the lost one, else the score if a judge graded."""
    lost = [each for each in findings if each.family == "whole" and each.state is State.WORSE and each.p_value]
    if lost:
        return min(lost, key=lambda each: each.p_value or 0.0).metric
    judged = any(pair.graded for pair in pairs)
    return "share" if judged and any(pair.scored for pair in pairs) else "pass_rate"


def _sure_losses(sides: Sides, findings: Sequence[Finding]) -> Container[int]:
    """The places of the pairs that are certainly lost; if the whole or a part is, also those significant alone."""
    lost = [each for each in findings if each.state is State.WORSE]
    keys = {each.key for each in lost if each.family == "case"}
    sure = {place for place, pair in enumerate(sides.pairs) if pair.key in keys}
    return sure | significant_alone(sides.pairs) if any(each.family != "case" for each in lost) else sure


def _with_numbers(
    comparison: Comparison, test: BlockedTest, pairs: Sequence[Pair], rule: RegressionRule
) -> Comparison:
    """`comparison` with the numbers of the test, and the cases or runs needed to detect more."""
    noise, alpha = test.noise, rule.alpha
    detectable = noise.detectable_drop(alpha)
    comparison = replace(
        comparison,
        p_value=test.p_value,
        gain_p_value=test.gain_p_value,
        drop=test.drop,
        base_mean=test.base_mean,
        head_mean=test.head_mean,
        interval=test.interval,
        detectable_drop=detectable,
        flips=flips(pairs),
    )
    if comparison.deterministic:
        return comparison
    comparison = replace(
        comparison,
        rerun_agreement=noise.agreement(test.drop, alpha),
        repeats_for_half=noise.repeats_for(detectable / 2, alpha),
        flaky=flaky_cases(pairs),
    )
    if detectable <= WORTH_SEEING:
        return comparison
    cases, repeats = noise.cases_for(WORTH_SEEING, alpha), noise.repeats_for(WORTH_SEEING, alpha)
    return replace(comparison, cases_needed=cases, repeats_needed=repeats)


def _categories(pairs: Sequence[Pair]) -> tuple[CategoryChange, ...]:
    groups = grouped((pair.base.category, pair) for pair in pairs)
    return tuple(
        CategoryChange(
            name=name,
            cases=len(group),
            base_rate=pass_rate([pair.base for pair in group]),
            head_rate=pass_rate([pair.head for pair in group]),
        )
        for name, group in groups.items()
    )
