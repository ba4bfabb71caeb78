"""Whether a comparison shows a loss: the level of significance, the losses, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct

from runevals.lib.statistics.permutation_test import BlockedTest, round_alpha
from runevals.lib.text.numbers import plural, short_list
from runevals.records import (
    CaseReport,
    Comparison,
    ComparisonVerdict,
    Hypothesis,
    InconclusiveBy,
    Outcome,
    RegressionRule,
    RunReport,
    Suspect,
)
from runevals.verdict.families import UNCLEAR_DROP, Level, families
from runevals.verdict.matching import Key, MatchedRuns, Pair, Side, was_due
from runevals.verdict.suspects import fails_after_errors, is_critical
from runevals.verdict.weakenings import passes_with_less

_ROUNDING = 1e-9  # of a difference of means
MIN_SHARED = 0.8  # of each suite's cases: below, they cannot be compared
MIN_ARRIVED = 0.8  # of the values that were due
STOP_FIRST_P = 0.30  # a first round this far from a loss ends a run; later ones at STOP_LATER_P
STOP_LATER_P = 0.10
_WAVERING = "it failed in some runs only, though the target is called deterministic"


class Strictness(Enum):
    """How significant a failure must be, by its use."""

    FINAL = "exact p at alpha"
    SCREENING = "mid-p at twice alpha: a failure will be verified before it blocks"


def level_of(head: RunReport, pairs: Sequence[Pair], strictness: Strictness, rule: RegressionRule) -> Level:
    """How small p must be after the rounds that `head` has made: corrected for the looks before."""
    of_base = [len(pair.before.values) for pair in pairs if pair.before.values]
    base_repeats = sum(of_base) / len(of_base) if of_base else 1.0
    screening = strictness is Strictness.SCREENING
    alpha = 2 * rule.alpha if screening else rule.alpha
    spent = round_alpha(alpha, base_repeats=base_repeats, done=rounds_done(pairs), planned=head.run.repeat)
    return Level(spent, rule, mid=screening)


def rounds_done(pairs: Sequence[Pair]) -> int:
    """The number of runs per case on the head."""
    return max((len(pair.head.attempts) for pair in pairs), default=1)


class Evidence(Struct, frozen=True, kw_only=True):
    """What a verdict is made from."""

    pairs: Sequence[Pair]
    hypotheses: Sequence[Hypothesis]  # those that can block
    suspects: Sequence[Suspect]
    removed_critical: Sequence[CaseReport]
    not_comparable: str  # why the runs cannot be compared; empty if they can
    deterministic: bool
    # Of a deterministic target that can be run: the cases that a judge alone turned. Fresh runs decide them.
    by_judge: frozenset[Key]
    test: BlockedTest | None
    rule: RegressionRule


class Ruling(Struct, frozen=True):
    """The verdict of a comparison, with the reason if it is inconclusive or incomparable."""

    verdict: ComparisonVerdict
    why: str = ""
    by: InconclusiveBy | None = None


def ruling(evidence: Evidence) -> Ruling:
    """The verdict: a loss first, then what is unknown, then the size of the difference."""
    if _lost(evidence):
        return Ruling(ComparisonVerdict.REGRESSION)
    if evidence.not_comparable:
        return Ruling(ComparisonVerdict.INCOMPARABLE, evidence.not_comparable)
    unknown = _unknown(evidence)
    if unknown is not None:
        return unknown
    by_size = _by_size(evidence)
    if evidence.deterministic and by_size.verdict is ComparisonVerdict.NO_CHANGE:
        fixed = any(pair.fixed and pair.key not in evidence.by_judge for pair in evidence.pairs)
        return Ruling(ComparisonVerdict.IMPROVED if fixed else ComparisonVerdict.NO_CHANGE)
    return by_size


def _lost(evidence: Evidence) -> bool:
    if evidence.removed_critical or any(suspect.state == "confirmed" for suspect in evidence.suspects):
        return True
    if evidence.deterministic:
        unsettled = {(s.suite, s.key) for s in evidence.suspects if s.state != "confirmed"} | evidence.by_judge
        if any(p.regressed and p.key not in unsettled for p in evidence.pairs):
            return True
    return any(hypothesis.finding == "lost" for hypothesis in evidence.hypotheses)


def _unknown(evidence: Evidence) -> Ruling | None:
    """What errors or missing fresh runs leave open."""
    still_open = [suspect for suspect in evidence.suspects if suspect.state == "open"]
    if still_open:
        return Ruling(ComparisonVerdict.INCONCLUSIVE, open_cases(still_open), "suspects")
    if evidence.deterministic and (wavering := _wavering(evidence)):
        why = f"{short_list([pair.head.key for pair in wavering])} may be lost ({_WAVERING})"
        return Ruling(ComparisonVerdict.INCONCLUSIVE, why, "suspects")
    arrived = min(
        _arrived([pair.now for pair in evidence.pairs]), _arrived([pair.before for pair in evidence.pairs])
    )
    if evidence.test is None or arrived < MIN_ARRIVED:
        return Ruling(ComparisonVerdict.INCONCLUSIVE, "too few values arrived to compare with the base", "errors")
    torn = [pair for pair in evidence.pairs if _might_be_lost(pair, one_is_enough=evidence.deterministic)]
    if evidence.deterministic:
        run_again = {(suspect.suite, suspect.key) for suspect in evidence.suspects}
        torn += [p for p in evidence.pairs if fails_after_errors(p) and p.key not in run_again]
    if torn or any(hypothesis.finding == "errors" for hypothesis in evidence.hypotheses):
        names = f" ({short_list([pair.head.key for pair in torn])})" if torn else ""
        why = f"what could not be measured would decide{names}"
        return Ruling(ComparisonVerdict.INCONCLUSIVE, why, "errors")
    return None


def _wavering(evidence: Evidence) -> list[Pair]:
    """The cases that fail in some runs only: without those run again until they passed, unless these are many."""
    wavering = [pair for pair in evidence.pairs if pair.wavers and pair.key not in evidence.by_judge]
    if evidence.test is not None and evidence.test.p_value <= evidence.rule.alpha:
        return wavering
    return [pair for pair in wavering if not _passed_when_run_again(pair)]


def _passed_when_run_again(pair: Pair) -> bool:
    """Whether runs were added only after failures: it passed as often as on the base, and in the end."""
    last = [attempt.status for attempt in pair.head.runs if attempt.status.measured][-1]
    return last is Outcome.PASSED and pair.now.passes <= pair.before.runs < pair.now.runs


def _arrived(sides: Sequence[Side]) -> float:
    """The share of the due values that arrived; skipped ones are not due."""
    due = sum(side.due for side in sides)
    return sum(len(side.values) for side in sides) / due if due else 1.0


def open_cases(suspects: Sequence[Suspect]) -> str:
    """Which cases may be lost, and why that is not known."""
    reasons = dict.fromkeys(suspect.reason for suspect in suspects if suspect.reason)
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return f"{short_list([suspect.key for suspect in suspects])} may be lost{why}"


def _by_size(evidence: Evidence) -> Ruling:
    if any(hypothesis.finding == "small" for hypothesis in evidence.hypotheses):
        return Ruling(ComparisonVerdict.SMALL)
    if _unclear(evidence.hypotheses) and _unclear_without_cleared(evidence):
        return Ruling(ComparisonVerdict.INCONCLUSIVE, "", "families")
    unrun = [suspect for suspect in evidence.suspects if suspect.state == "unrun"]
    if unrun:
        return Ruling(ComparisonVerdict.INCONCLUSIVE, open_cases(unrun), "families")
    test, rule = evidence.test, evidence.rule
    gained = test is not None and -test.drop >= rule.min_effect - _ROUNDING and test.gain_p_value <= rule.alpha
    return Ruling(ComparisonVerdict.IMPROVED if gained else ComparisonVerdict.NO_CHANGE)


def _unclear(hypotheses: Sequence[Hypothesis]) -> bool:
    return any(hypothesis.finding in ("unclear", "lost") for hypothesis in hypotheses)


def _unclear_without_cleared(evidence: Evidence) -> bool:
    """Whether a large drop is left in the cases that fresh runs did not clear."""
    fine = {(s.suite, s.key) for s in evidence.suspects if s.state in ("dropped", "cleared")}
    rest = [pair for pair in evidence.pairs if pair.key not in fine]
    return _unclear(families(rest, Level(evidence.rule.alpha, evidence.rule)).hypotheses)


def _might_be_lost(pair: Pair, *, one_is_enough: bool) -> bool:
    """A case that never failed on base, and whose errors hide whether it is lost; one loss would block."""
    if pair.now.complete or pair.base.pass_rate != 1.0:
        return False
    statuses = {attempt.status for attempt in pair.head.attempts}
    if Outcome.ERRORED not in statuses:
        return False
    return one_is_enough or (is_critical(pair) and Outcome.PASSED not in statuses)


def settled_early(comparison: Comparison) -> bool:
    """Whether a run in rounds may stop here as passing: more runs would not change that."""
    if comparison.verdict in (ComparisonVerdict.INCONCLUSIVE, ComparisonVerdict.INCOMPARABLE):
        return False
    whole = [hypothesis for hypothesis in comparison.hypotheses if hypothesis.family == "whole"]
    parts = [hypothesis for hypothesis in comparison.hypotheses if hypothesis.family != "whole"]
    far = STOP_FIRST_P if comparison.rounds_done == 1 else STOP_LATER_P
    return (
        bool(whole)
        and all(h.p_value > far and h.drop < UNCLEAR_DROP for h in whole)
        and not any(h.drop >= UNCLEAR_DROP and h.p_value <= STOP_LATER_P / len(parts) for h in parts)
    )


def few_edited(same: Sequence[Pair], matched: MatchedRuns) -> bool:
    """Whether most of what the base measured is unedited. Otherwise all is run again, on the base's suite.

    True whenever `why_not_comparable` finds enough cases: then the old form of edited cases must be run.
    """
    unedited = sum(pair.before.due > 0 for pair in same)
    return unedited >= MIN_SHARED * len(_due_on_base(matched))


def _due_on_base(matched: MatchedRuns) -> list[CaseReport]:
    return [*(p.base for p in matched.both if p.before.due), *filter(was_due, matched.removed)]


def why_not_comparable(pairs: Sequence[Pair], matched: MatchedRuns, suspects: Iterable[Suspect]) -> str:
    """Why too few cases can be compared: under 80 % of a suite's, or a critical one is missing; else empty.

    `pairs` have equal content on both sides. A case counts if the same judge checked it on both sides, if it
    errored (errors are reported by themselves), and if it was edited and its old form was run. One that passes
    without the score of a check does not.
    """
    kept_pairs = [
        p for p in pairs if (p.before.due and p.now.due and not passes_with_less(p)) or p.head.quarantined
    ]
    if len(kept_pairs) == len(matched.both) and not matched.removed:
        return ""  # nothing of the base is left out
    left = {(p.base.suite, p.base.key) for p in kept_pairs}
    settled = {(s.suite, s.key) for s in suspects if s.edited and s.state != "open"}
    left |= {p.base_key for p in matched.both if p.key in settled} if settled else set()
    due: dict[str, list[CaseReport]] = {}
    for case in _due_on_base(matched):
        due.setdefault(case.suite, []).append(case)
    for suite, cases in due.items():
        count = sum((case.suite, case.key) in left for case in cases)
        if count < MIN_SHARED * len(cases):
            where = f" in {suite}" if len(due) > 1 else ""
            of = f"{count} of the base's {plural(len(cases), 'case')}{where}"
            return f"only {of} can be compared, the others were edited, removed or skipped, or lack a score"
    edited = [
        pair.head.key
        for pair in matched.both
        if is_critical(pair) and pair.base_key not in left and pair.before.due
    ]
    return f"of the critical cases, {short_list(edited)} cannot be compared" if edited else ""
