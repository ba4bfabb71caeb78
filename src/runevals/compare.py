"""Report + baseline → comparison; which cases may be compared, what changed, how sure we are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from typing import Literal

from runevals.casewise import confirmed, flaky_cases, flips
from runevals.changes import Pair, Side, case_changes, change_of, match, one_sided, weakenings
from runevals.records import (
    CaseReport,
    CategoryChange,
    Change,
    CheckReport,
    Comparison,
    ComparisonVerdict,
    Layer,
    ModelIdentity,
    Outcome,
    Rule,
    RunReport,
    Verification,
)
from runevals.score import pass_rate, run_report, totals, without_checks
from runevals.secondary import metric_changes
from runevals.significance import BlockedTest, case_blocked_test, round_alpha

WARN_ALPHA = 0.05
_ROUNDING = 1e-9  # of a difference of means
WORTH_SEEING = 0.05  # where a smaller suite cannot see a drop of 5 points, it is told what would
MIN_SHARED = 0.8
VERIFY_OFF = "verify: off"
MIN_ARRIVED = 0.8
GIVE_UP_FIRST = 0.30  # a first round this far from red ends green; later ones at GIVE_UP_LATER
GIVE_UP_LATER = 0.10
CRITICAL_CATEGORIES = frozenset({"replay", "redteam"})


class Strictness(Enum):
    """How sure a red must be, by what will become of it."""

    FINAL = "exact p at alpha"
    SCREENING = "mid-p at twice alpha: a red will be verified before it blocks"
    VERIFYING = "mid-p at alpha, against a fresh base: what looking early costs is spent already"


def compare(
    head: RunReport,
    base: RunReport,
    source: str,
    strictness: Strictness = Strictness.FINAL,
    rule: Rule = Rule(),  # noqa: B008 - a frozen record
) -> Comparison:
    """`head` against `base`; `source` says in words where the base came from."""
    caveats = tuple(_caveats(head, base, rule))
    if _judges_differ(head, base):
        head, base = _without_judge(head), _without_judge(base)
    matched = match(base.cases, head.cases)
    same = [pair for pair in matched.both if pair.same_content]
    pairs = [pair for pair in same if not pair.head.quarantined]
    measured = [pair for pair in pairs if pair.measured]
    deterministic = head.run.target.deterministic and base.run.target.deterministic
    test = _test(measured) if measured else None
    graded = any(attempt.graded for pair in measured for attempt in (*pair.base.attempts, *pair.head.attempts))
    rounds = _rounds(head, pairs, strictness, rule)
    comparable = len(same) >= MIN_SHARED * len(base.cases) and bool(pairs)
    found = Comparison(
        base=base,
        source=source,
        verdict=_verdict(pairs, test, rounds, deterministic=deterministic)
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
        critical_lost=tuple(pair.head.key for pair in pairs if _critical_loss(pair)),
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


def needs_verification(comparison: Comparison) -> bool:
    """Whether a red must be seen again against a fresh run of the base: a deterministic one need not."""
    return comparison.verdict is ComparisonVerdict.REGRESSION and not comparison.deterministic


def verified(stored: Comparison, fresh: Comparison, changes: Sequence[Change]) -> Comparison:
    """A red against the stored base, held to a fresh run of it: red again, or not confirmed.

    `changes` are those against both runs of the base together: where they agree, more can be named.
    """
    if fresh.verdict is ComparisonVerdict.REGRESSION:
        return replace(
            stored,
            verdict=ComparisonVerdict.REGRESSION,
            changes=tuple(changes),
            verification=Verification(state="confirmed", reason=f"confirmed against {fresh.source}"),
        )
    if fresh.verdict in (ComparisonVerdict.INCONCLUSIVE, ComparisonVerdict.INCOMPARABLE):
        return unverified(stored, f"{fresh.source} could not be compared with")
    moved = (stored.base_mean or 0.0) - (fresh.base_mean or 0.0)
    reason = f"the stored base no longer holds (it moved by {-100 * moved:+.1f} points)".replace("-", "−")
    return replace(
        stored,
        verdict=ComparisonVerdict.NOT_CONFIRMED,
        verification=Verification(state="not_confirmed", reason=reason),
    )


def unverified(stored: Comparison, why: str) -> Comparison:
    """A red that could not be verified stands if it is one by the exact p, and says why."""
    state: Literal["off", "impossible"] = "off" if why == VERIFY_OFF else "impossible"
    return replace(stored, verification=Verification(state=state, reason=f"not verified: {why}"))


def _test(pairs: Sequence[Pair], errors_as: float | None = None) -> BlockedTest:
    """The test on the pairs' values; with `errors_as`, had every run that could not be measured come out so."""
    base = {index: pair.before.values for index, pair in enumerate(pairs)}
    head = {
        index: pair.now.values if errors_as is None else _completed(pair.head, errors_as)
        for index, pair in enumerate(pairs)
    }
    return case_blocked_test(base, head)


def _completed(case: CaseReport, value: float) -> tuple[float, ...]:
    asked = [attempt for attempt in case.attempts if attempt.status is not Outcome.SKIPPED]
    return tuple(value if attempt.value is None else attempt.value for attempt in asked)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """How far a run with several repeats has come, and the largest p that is red by now."""

    done: int
    planned: int
    red: float
    rule: Rule
    mid: bool = False  # the mid-p value decides

    def is_loss(self, test: BlockedTest) -> bool:
        p = test.mid_p_value if self.mid else test.p_value
        return p <= self.red and test.drop >= self.rule.min_effect - _ROUNDING


def _rounds(head: RunReport, pairs: Sequence[Pair], strictness: Strictness, rule: Rule) -> _Rounds:
    done = max((len(pair.head.attempts) for pair in pairs), default=1)
    if strictness is Strictness.VERIFYING:
        return _Rounds(done, done, rule.alpha, rule, mid=True)
    of_base = [len(pair.before.values) for pair in pairs if pair.before.values]
    base_repeats = sum(of_base) / len(of_base) if of_base else 1.0
    screening = strictness is Strictness.SCREENING
    alpha = 2 * rule.alpha if screening else rule.alpha
    red = round_alpha(alpha, base_repeats=base_repeats, done=done, planned=head.run.repeat)
    return _Rounds(done, head.run.repeat, red, rule, mid=screening)


def settled_early(comparison: Comparison) -> bool:
    """Whether a run in rounds may stop here: clearly red, or so far from red that more would not change it.

    A critical case that has failed every attempt so far keeps it going: one attempt is no proof.
    """
    if comparison.verdict is ComparisonVerdict.REGRESSION:
        return True
    if comparison.p_value is None or comparison.verdict in (
        ComparisonVerdict.INCONCLUSIVE,
        ComparisonVerdict.INCOMPARABLE,
    ):
        return False
    regressed = [c for c in comparison.of_kind("regressed") if c.head is not None and is_critical(c.head)]
    return not regressed and comparison.p_value > (GIVE_UP_FIRST if comparison.rounds_done == 1 else GIVE_UP_LATER)


def is_critical(case: CaseReport) -> bool:
    """Marked as critical, or of a category whose cases all are."""
    return case.critical or case.category in CRITICAL_CATEGORIES


def _verdict(
    pairs: Sequence[Pair],
    test: BlockedTest | None,
    rounds: _Rounds,
    *,
    deterministic: bool,
) -> ComparisonVerdict:
    if deterministic and any(pair.regressed for pair in pairs):
        return ComparisonVerdict.REGRESSION
    if not deterministic and rounds.done >= rounds.planned and any(_critical_loss(pair) for pair in pairs):
        return ComparisonVerdict.REGRESSION
    if any(_might_be_lost(pair, surely_red=deterministic) for pair in pairs):
        return ComparisonVerdict.INCONCLUSIVE
    arrived, of_base = _arrived([pair.now for pair in pairs]), _arrived([pair.before for pair in pairs])
    if test is None or min(arrived, of_base) < MIN_ARRIVED:
        return ComparisonVerdict.INCONCLUSIVE
    if deterministic:
        fixed = any(pair.fixed for pair in pairs)
        return ComparisonVerdict.IMPROVED if fixed else ComparisonVerdict.NO_CHANGE
    return _by_test(pairs, test, rounds, complete=arrived == 1.0)


def _arrived(sides: Sequence[Side]) -> float:
    """The share of values that there are, of those that should be; what was skipped should not."""
    due = sum(side.due for side in sides)
    return sum(len(side.values) for side in sides) / due if due else 1.0


def _by_test(pairs: Sequence[Pair], test: BlockedTest, rounds: _Rounds, *, complete: bool) -> ComparisonVerdict:
    is_loss = rounds.is_loss(test)
    if not complete:
        # What errored might have passed, or failed: where that would decide, nothing is known.
        known = [pair for pair in pairs if pair.before.values]
        if rounds.is_loss(_test(known, errors_as=0.0)) and not rounds.is_loss(_test(known, errors_as=1.0)):
            return ComparisonVerdict.INCONCLUSIVE
    if is_loss:
        return ComparisonVerdict.REGRESSION
    if test.p_value <= WARN_ALPHA and test.drop > 0:
        return ComparisonVerdict.WARNING
    improved = test.gain_p_value <= rounds.rule.alpha and -test.drop >= rounds.rule.min_effect - _ROUNDING
    return ComparisonVerdict.IMPROVED if improved else ComparisonVerdict.NO_CHANGE


def _critical_loss(pair: Pair) -> bool:
    """A critical case that never failed on base and fails every attempt on head."""
    if not (is_critical(pair.head) or is_critical(pair.base)):
        return False
    base_passes = pair.base.pass_rate == 1.0 and len(pair.before.values) == len(pair.base.attempts)
    return base_passes and all(attempt.status is Outcome.FAILED for attempt in pair.head.attempts)


def _might_be_lost(pair: Pair, *, surely_red: bool) -> bool:
    """A case that never failed on base, and whose errors hide whether it is lost; one loss would be red."""
    statuses = {attempt.status for attempt in pair.head.attempts}
    if Outcome.ERRORED not in statuses or pair.base.pass_rate != 1.0:
        return False
    critical = is_critical(pair.head) or is_critical(pair.base)
    return surely_red or (critical and Outcome.PASSED not in statuses)


def _judges_differ(head: RunReport, base: RunReport) -> bool:
    return _judge_key(head.run.judge) != _judge_key(base.run.judge)


def _judge_key(judge: ModelIdentity | None) -> tuple[object, ...] | None:
    """What two judges must share: a median of several votes is not spread as one vote is."""
    if judge is None:
        return None
    votes, each = judge.detail.get("votes", 1), judge.detail.get("judges", {})
    return judge.type, judge.model, judge.prompt_hash, votes, each


def _judge_name(judge: ModelIdentity | None) -> str:
    if judge is None:
        return "none"
    votes = judge.detail.get("votes", 1)
    return (judge.model or judge.type) + (f" by {votes} votes" if votes != 1 else "")


def _without_judge(report: RunReport) -> RunReport:
    """`report` as if no judge had been asked."""

    def judged(result: CheckReport) -> bool:
        return result.layer is Layer.JUDGE or result.judge_model is not None

    return run_report(report.run, [without_checks(case, judged) for case in report.cases])


def _caveats(head: RunReport, base: RunReport, rule: Rule) -> Iterator[str]:
    age = head.run.started_at - base.run.started_at
    if age > timedelta(days=rule.max_base_age_days):
        yield f"the base's run is {age.days} days old; a fresh one makes its verdict surer"
    if _judges_differ(head, base):
        names = [_judge_name(run.judge) for run in (base.run, head.run)]
        told = (
            f"{names[0]} on base, {names[1]} now" if names[0] != names[1] else f"{names[0]}, with another prompt"
        )
        yield f"judge scores are not comparable and were left out: the judge was {told}"
    same_request = head.run.target.model == base.run.target.model
    if same_request and base.run.target.reported and head.run.target.reported != base.run.target.reported:
        now, before = ", ".join(head.run.target.reported), ", ".join(base.run.target.reported)
        yield f"the provider answers with another model than for the base: {before} then, {now} now"
    known = {(case.suite, case.key): case.fetched for case in base.cases if case.fetched}
    changed = {
        url
        for case in head.cases
        for url, digest in case.fetched.items()
        if known.get((case.suite, case.key), {}).get(url, digest) != digest
    }
    if changed:
        yield f"changed since the base was run: {', '.join(sorted(changed)[:5])}"
    if not base.complete:
        yield "the base's run is incomplete"
