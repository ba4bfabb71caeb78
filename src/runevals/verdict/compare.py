"""Report + baseline → comparison; which cases may be compared, what changed, how sure we are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runevals.lib.statistics.permutation_test import BlockedTest
from runevals.records import CategoryChange, Comparison, ComparisonVerdict, Rule, RunReport
from runevals.verdict.comparability import caveats_of, judges_differ, without_judge
from runevals.verdict.matching import Pair, case_changes, change_of, match, one_sided, weakenings
from runevals.verdict.per_case import confirmed, flaky_cases, flips
from runevals.verdict.regression import Strictness, is_critical_loss, rounds_of, value_test, verdict_of
from runevals.verdict.secondary_metrics import metric_changes
from runevals.verdict.totals import pass_rate, totals

WORTH_SEEING = 0.05  # where a smaller suite cannot see a drop of 5 points, it is told what would
MIN_SHARED = 0.8


def compare(
    head: RunReport,
    base: RunReport,
    source: str,
    strictness: Strictness = Strictness.FINAL,
    rule: Rule = Rule(),  # noqa: B008 - a frozen record
) -> Comparison:
    """`head` against `base`; `source` says in words where the base came from."""
    caveats = tuple(caveats_of(head, base, rule))
    if judges_differ(head, base):
        head, base = without_judge(head), without_judge(base)
    matched = match(base.cases, head.cases)
    same = [pair for pair in matched.both if pair.same_content]
    pairs = [pair for pair in same if not pair.head.quarantined]
    measured = [pair for pair in pairs if pair.measured]
    deterministic = head.run.target.deterministic and base.run.target.deterministic
    test = value_test(measured) if measured else None
    graded = any(attempt.graded for pair in measured for attempt in (*pair.base.attempts, *pair.head.attempts))
    rounds = rounds_of(head, pairs, strictness, rule)
    comparable = len(same) >= MIN_SHARED * len(base.cases) and bool(pairs)
    found = Comparison(
        base=base,
        source=source,
        verdict=verdict_of(pairs, test, rounds, deterministic=deterministic)
        if comparable
        else ComparisonVerdict.INCOMPARABLE,
        shared=len(same),
        compared=len(measured),
        base_cases=len(base.cases),
        base_totals=base.totals if len(same) == len(base.cases) else totals([pair.base for pair in same]),
        head_totals=head.totals if len(same) == len(head.cases) else totals([pair.head for pair in same]),
        deterministic=deterministic,
        rounds_done=rounds.done,
        rounds_planned=rounds.planned,
        metric="share" if graded else "pass_rate",
        critical_lost=tuple(pair.head.key for pair in pairs if is_critical_loss(pair)),
        quarantined=len(same) - len(pairs),
        categories=_categories(same),
        changes=(
            *case_changes(pairs, confirmed=range(len(pairs)) if deterministic else confirmed(pairs)),
            *(change_of(pair, "quarantined") for pair in same if pair.head.quarantined and pair.regressed),
            *(change_of(pair, "edited") for pair in matched.both if not pair.same_content),
            *(one_sided(case, "added") for case in matched.added),
            *(one_sided(case, "removed") for case in matched.removed),
        ),
        weakenings=tuple(weakenings(matched)),
        caveats=caveats,
    )
    if test is None:
        return found
    evaluators = base.by_evaluator.keys() & head.by_evaluator.keys()
    others = () if deterministic else metric_changes(measured, evaluators, graded=graded)
    return replace(_with_numbers(found, test, measured, rule), metrics=others)


def _with_numbers(found: Comparison, test: BlockedTest, pairs: Sequence[Pair], rule: Rule) -> Comparison:
    """`found` with what the test says, and what would have to change for it to say more."""
    detectable = test.noise.detectable_drop(rule.alpha)
    blind = not found.deterministic and detectable > WORTH_SEEING
    return replace(
        found,
        p_value=test.p_value,
        gain_p_value=test.gain_p_value,
        drop=test.drop,
        base_mean=test.base_mean,
        head_mean=test.head_mean,
        interval=test.interval,
        detectable_drop=detectable,
        rerun_agreement=None if found.deterministic else test.noise.agreement(test.drop, rule.alpha),
        cases_needed=test.noise.cases_for(WORTH_SEEING, rule.alpha) if blind else None,
        repeats_needed=test.noise.repeats_for(WORTH_SEEING, rule.alpha) if blind else None,
        repeats_for_half=None if found.deterministic else test.noise.repeats_for(detectable / 2, rule.alpha),
        flips=flips(pairs),
        flaky=() if found.deterministic else flaky_cases(pairs),
    )


def _categories(pairs: Sequence[Pair]) -> tuple[CategoryChange, ...]:
    groups: dict[str | None, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.head.category, []).append(pair)
    return tuple(
        CategoryChange(
            name=name,
            cases=len(group),
            base_rate=pass_rate([pair.base for pair in group]),
            head_rate=pass_rate([pair.head for pair in group]),
        )
        for name, group in groups.items()
    )
