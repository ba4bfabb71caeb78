"""Single cases that look lost, and their verdict after fresh runs of both sides.

Repeating a whole suite is a poor way to see one lost case; repeating that case on both sides is cheap and exact.
Selection and test share no run, and no run is ever replaced by a better one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import comb, exp, fsum, log

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.statistics.multiple_testing import holm
from runevals.lib.statistics.permutation_test import binomial_tail, case_p_value
from runevals.lib.text.numbers import plural
from runevals.records import AttemptReport, CaseReport, Outcome, RegressionRule, Suspect, SuspectState
from runevals.records.rules import CRITICAL_CATEGORIES
from runevals.verdict.matching import Pair, Side
from runevals.verdict.score import over_attempts

LEVEL = 0.5  # of alpha: the level of all suspects together
LEVEL_OF_NUMBER = 0.4  # of alpha: the level at which so many unsettled cases cannot be chance
CLEARED_P = 0.10
SCREEN = 2  # runs of the head that come first
RUNS, MORE_RUNS = 8, 12  # a side: after RUNS it may be settled, after MORE_RUNS it is
CAP, CAP_SHARE = 5, 0.1  # suspects besides the critical ones: at least 5, at most a tenth of the cases
STEADY = 2 / 3  # the share of runs that a suspect passed on the base
LOST_SHARE = 0.5  # how far the mean share of a graded suspect fell
FEW_ERRING = 0.2  # the share of cases: with more errors, too few values arrived to compare at all
STORED_RUNS = 3  # from which the stored runs of a base that cannot be run suffice
UNKNOWN = "errors hide what it was on the base"
NO_OLD_FORM = "it was edited, and its old form could not be run"
IN_NO_COMMIT = "the base's result was made with changes that are in no commit"


def is_critical(pair: Pair) -> bool:
    """Marked as critical on either side, or of a category whose cases all are."""
    return is_critical_case(pair.base) or is_critical_case(pair.head)


def is_critical_case(case: CaseReport) -> bool:
    """Marked as critical, or of a category whose cases all are."""
    return case.critical or case.category in CRITICAL_CATEGORIES


def candidates(pairs: Sequence[Pair]) -> list[Pair]:
    """The cases that look lost: critical ones first, then those that were steadiest on the base."""
    suspects = [pair for pair in pairs if _looks_lost(pair)]
    return sorted(suspects, key=lambda pair: (not is_critical(pair), -_passed(pair.before), -pair.before.runs))


def only_errors(pairs: Sequence[Pair], rule: RegressionRule) -> list[Pair]:
    """The cases whose errors may hide a loss, if so few may pass; of many, the run does not pass anyway."""
    erring = [pair for pair in pairs if only_errors_now(pair)] if rule.max_errors else []
    return erring if len(erring) <= FEW_ERRING * len(pairs) else []


def edited(pairs: Sequence[Pair]) -> list[Pair]:
    """The edited cases whose old form is run on the head: those that passed and fail now, and critical ones.

    Of these also one of which only white space was edited: the target may read it, such as code.
    """
    changed = [p for p in pairs if p.base.fingerprint != p.head.fingerprint and not p.head.quarantined]
    return [
        pair
        for pair in changed
        if (pair.regressed and not pair.same_content) or (is_critical(pair) and pair.before.passes)
    ]


def admitted(candidates: Sequence[Pair], cases: int) -> list[Pair]:
    """The candidates that are run again: all critical ones, and of the others the first few."""
    critical = [pair for pair in candidates if is_critical(pair)]
    others = [pair for pair in candidates if not is_critical(pair)]
    return [*critical, *others[: max(CAP, int(CAP_SHARE * cases))]]


def _looks_lost(pair: Pair) -> bool:
    now, before = pair.now, pair.before
    if not now.runs or (now.passes == now.runs and not now.graded):
        return False
    if is_critical(pair) and now.passes < now.runs:
        return before.passes > 0 or not before.runs
    mostly = now.runs >= 3 and 3 * now.passes <= now.runs
    if now.passes == 0 or mostly:
        return unknown_on_base(pair) or (before.runs > 0 and _passed(before) >= STEADY - 1e-9)
    return by_share(pair)


def unknown_on_base(pair: Pair) -> bool:
    """Whether errors hide what it was on the base."""
    return not pair.before.runs and pair.before.due > 0


def fails_after_errors(pair: Pair) -> bool:
    """Whether it fails now, and errors hide whether it did on the base."""
    return unknown_on_base(pair) and pair.head.status is Outcome.FAILED


def by_share(pair: Pair) -> bool:
    """Whether only its share fell: its answers are graded and still pass."""
    if not (pair.before.graded or pair.now.graded):
        return False
    before, now = pair.before.values, pair.now.values
    return bool(before and now) and _mean(before) - _mean(now) >= LOST_SHARE


def _passed(side: Side) -> float:
    return side.passes / side.runs if side.runs else 0.0


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


class SuspectRuns(Struct):
    """A suspect with its fresh runs so far; without a base to run, `base` are the stored runs."""

    pair: Pair
    head: list[AttemptReport] = []
    base: list[AttemptReport] = []
    stored: bool = False
    edited: bool = False  # the head runs the base's form of it
    one_run_suffices: bool = False  # stored of the base: its target is deterministic
    state: SuspectState | None = None
    p_value: float | None = None
    reason: str = ""

    @property
    def graded(self) -> bool:
        """Whether shares are tested, not outcomes."""
        return by_share(self.pair)

    def values(self, *, lenient: bool) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """(base, head) as numbers; errors count in favour of the head if `lenient`, else against it."""
        return (
            tuple(_value(a, graded=self.graded, errored=0.0 if lenient else 1.0) for a in self.base),
            tuple(_value(a, graded=self.graded, errored=1.0 if lenient else 0.0) for a in self.head),
        )

    @property
    def best_p(self) -> float:
        """The smallest p that can still be reached: all further runs and all errors count as a loss."""
        base, head = self.values(lenient=False)
        base += () if self.stored else (1.0,) * (MORE_RUNS - len(base))
        return case_p(base, head + (0.0,) * (MORE_RUNS - len(head)))

    @property
    def decided(self) -> bool:
        """Whether nothing more is to be run."""
        return self.state is not None or (
            len(self.head) >= MORE_RUNS and (self.stored or len(self.base) >= MORE_RUNS)
        )


def _value(attempt: AttemptReport, *, graded: bool, errored: float) -> float:
    if not attempt.status.measured:
        return errored
    if not graded:
        return float(attempt.status is Outcome.PASSED)
    return errored if attempt.value is None else attempt.value


def case_p(base: Sequence[float], head: Sequence[float]) -> float:
    """One-sided exact p that the head's runs are worse: for outcomes this is Fisher's test."""
    return _p(tuple(sorted(base)), tuple(sorted(head))) if base and head else 1.0


_p = cache(case_p_value)


def drop_hopeless(suspects: Sequence[SuspectRuns], cases: int, rule: RegressionRule) -> None:
    """Drops those that pass too many fresh runs, and those that can no longer reach the level.

    Of m that entered, the last of those still alive must reach the level times m − alive + 1 (Holm).
    """
    alive = [suspect for suspect in suspects if suspect.state is None]
    number = cases if any(suspect.stored for suspect in suspects) else len(suspects)
    for suspect in alive:
        fails_all = suspect.stored and (_failed_all(suspect) or _unknown_before(suspect))
        reachable = suspect.best_p * (number - len(alive) + 1) <= LEVEL * rule.alpha or fails_all
        if not reachable or _passes_after_all(suspect):
            suspect.state = "dropped"
            suspect.p_value = case_p(*suspect.values(lenient=False))


def leave_erring_open(suspects: Sequence[SuspectRuns]) -> None:
    """Ends those that only erred on the head and err on all their first fresh runs, too."""
    for suspect in suspects:
        fresh = [attempt.status is Outcome.ERRORED for attempt in suspect.head]
        if suspect.state is None and fresh and all(fresh) and not suspect.pair.now.runs:
            suspect.state, suspect.reason = "open", "its runs end in errors"


def _passes_after_all(suspect: SuspectRuns) -> bool:
    """Both of the first runs, or three and half of all: a lost case hardly ever does so.

    Of a case that failed on the base, too, the first run is enough.
    """
    head, before = suspect.values(lenient=False)[1], suspect.pair.before
    if is_critical(suspect.pair) and len(head) > SCREEN:
        return False
    if suspect.graded:  # a score passes that is nearer to those of the base than to a lost one
        least = _mean(before.values) - LOST_SHARE / 2
        head = tuple(float(share > least) for share in head)
    if len(head) == 1 and before.passes < before.runs and not is_critical(suspect.pair):
        return head[0] >= 1.0
    return sum(head) >= (SCREEN if len(head) == SCREEN else 3) and 2 * sum(head) >= len(head)


def _failed_all(suspect: SuspectRuns) -> bool:
    """Whether it passed all its stored runs, one at least, and no fresh one."""
    before = suspect.pair.before
    return before.passes == before.runs >= 1 and not any(suspect.values(lenient=False)[1])


def _unknown_before(suspect: SuspectRuns) -> bool:
    """Whether the base never measured it, and no fresh run of the head passes."""
    return unknown_on_base(suspect.pair) and not suspect.base and not any(suspect.values(lenient=False)[1])


def _may_err(pair: Pair, rule: RegressionRule) -> bool:
    """Whether the settings let a few cases err, and this is not a critical one."""
    return bool(rule.max_errors) and not is_critical(pair)


def settle_half_way(suspects: Sequence[SuspectRuns], rule: RegressionRule) -> None:
    """Ends those that RUNS runs a side confirm, or clear; the others go on."""
    if not any(_is_half_way(suspect) for suspect in suspects):
        return
    sure = [case_p(*suspect.values(lenient=True)) for suspect in suspects]
    for suspect, p, corrected_p in zip(suspects, sure, holm(sure), strict=True):
        if not _is_half_way(suspect):
            continue
        suspect.p_value = p
        if corrected_p <= LEVEL * rule.alpha:
            suspect.state = "confirmed"
        elif case_p(*suspect.values(lenient=False)) > CLEARED_P:
            suspect.state = "cleared"


def _is_half_way(suspect: SuspectRuns) -> bool:
    return suspect.state is None and not suspect.stored and len(suspect.head) == len(suspect.base) == RUNS


def settle(
    suspects: Sequence[SuspectRuns], cases: int, rule: RegressionRule, doubt: Callable[[], str] = str
) -> None:
    """Sets the final state of every suspect; if the base could not be run, Holm is over all `cases`.

    The stored runs selected the suspect, so every case that could have been selected counts. Other answers of the
    base's commit than when it was stored clear a case, unless `doubt` has a reason against it.
    """
    sure = [case_p(*suspect.values(lenient=True)) for suspect in suspects]
    stored = any(suspect.stored for suspect in suspects)
    corrected = [min(1.0, p * cases) for p in sure] if stored else holm(sure)
    for suspect, p, corrected_p in zip(suspects, sure, corrected, strict=True):
        if suspect.state is None:
            suspect.p_value = p
            suspect.state, suspect.reason = _ending(suspect, corrected_p, rule)
        if suspect.state in ("dropped", "cleared") and _base_changed(suspect):
            reason = doubt()
            suspect.state = "open" if reason else "cleared"
            suspect.reason = reason or _why_base_changed(suspect)
    _confirm_by_number(suspects, cases, rule)


def _confirm_by_number(suspects: Sequence[SuspectRuns], cases: int, rule: RegressionRule) -> None:
    """Confirms the cases that too few stored runs leave unsettled one by one, if they are too many for chance.

    If they are so only with the fresh runs that errored, these cases stay open.
    """
    doubts = [one for one in suspects if one.stored and one.state == "cleared" and one.reason]
    doubts = [one for one in doubts if not one.pair.now.passes and not any(one.values(lenient=False)[1])]
    sure = [one for one in doubts if not any(one.values(lenient=True)[1])]
    most = max((len(one.head) for one in sure), default=0)
    full = [one for one in sure if len(one.head) == most]  # not hidden by one of which runs are missing
    endings: list[tuple[list[SuspectRuns], SuspectState, str]]
    endings = [(full, "confirmed", ""), (sure, "confirmed", ""), (doubts, "open", "some fresh runs errored")]
    for some, state, reason in endings:
        p = _p_of_number([(one.pair.before.runs, one.pair.now.runs + len(one.head)) for one in some], cases)
        if p <= LEVEL_OF_NUMBER * rule.alpha:
            for suspect in some:
                suspect.state, suspect.reason, suspect.p_value = state, reason, p
            return


def _p_of_number(runs: Sequence[tuple[int, int]], cases: int) -> float:
    """The chance that as many of `cases` pass all runs of the base and fail all of the head, if nothing changed.

    `runs` are those of each case that does, on the base and on the head. A case with the pass rate x passes r runs
    and fails h with the chance x^r (1 - x)^h, at most that at x = r / (r + h). How many do is at most binomial.
    """
    if len(runs) < 2:  # one case has a test of its own
        return 1.0
    passed, failed = (min(numbers) for numbers in zip(*runs, strict=True))
    rate = passed / (passed + failed)
    return binomial_tail(len(runs), cases, rate**passed * (1 - rate) ** failed)


def _base_changed(suspect: SuspectRuns) -> bool:
    """Whether the base passed all its stored runs, at least two, and both sides fail all fresh ones."""
    fresh = [] if suspect.stored else [*suspect.base, *suspect.head]
    failed = len(suspect.base) > 1 and all(attempt.status is Outcome.FAILED for attempt in fresh)
    return bool(fresh) and failed and suspect.pair.before.passes == suspect.pair.before.runs > 1


def _why_base_changed(suspect: SuspectRuns) -> str:
    stored, fresh = suspect.pair.before.runs, plural(len(suspect.base), "fresh run")
    return f"the stored base no longer holds for it, which passed all {stored} stored runs and failed all {fresh}"


def _ending(suspect: SuspectRuns, corrected: float, rule: RegressionRule) -> tuple[SuspectState, str]:
    if suspect.stored and corrected > LEVEL * rule.alpha:
        return _ending_without_base(suspect, rule)
    if not suspect.decided:
        return "open", suspect.reason or "it could not be run again"
    if corrected <= LEVEL * rule.alpha:
        return "confirmed", ""
    if case_p(*suspect.values(lenient=False)) > CLEARED_P:
        return "cleared", ""
    errored = any(a.status is Outcome.ERRORED for a in (*suspect.head, *suspect.base))
    return "open", "some fresh runs errored" if errored else "the fresh runs do not settle it"


def _ending_without_base(suspect: SuspectRuns, rule: RegressionRule) -> tuple[SuspectState, str]:
    """Three stored runs that all passed keep it open, of a critical case one does; fewer only warn."""
    failed = _failed_all(suspect)
    enough = suspect.pair.before.runs >= STORED_RUNS or suspect.one_run_suffices or is_critical(suspect.pair)
    too_few = failed and not enough
    if not suspect.decided:
        return "cleared" if too_few else "open", suspect.reason or "it could not be run again"
    if _unknown_before(suspect):
        return ending_of_unknown(suspect.pair, rule)
    if not failed:
        return "cleared", ""
    if not too_few:
        return "open", "the base cannot be run to confirm it"
    stored, fresh = plural(suspect.pair.before.runs, "stored run"), plural(len(suspect.head), "fresh run")
    return "cleared", f"it passed {stored} of the base and none of {fresh}; more stored runs would settle it"


def ending_of_unknown(pair: Pair, rule: RegressionRule) -> tuple[SuspectState, str]:
    """The ending of a case that the base did not measure then nor now, and that fails all its runs."""
    return "cleared" if _may_err(pair, rule) else "open", UNKNOWN


def recorded(suspect: SuspectRuns) -> Suspect:
    """The suspect as the report stores it: its fresh runs are separate from the scored ones."""
    pair = suspect.pair
    base = () if suspect.stored else suspect.base
    return replace(
        unrun(pair, suspect.reason, suspect.state or "open"),
        edited=suspect.edited,
        p_value=suspect.p_value,
        base=over_attempts(pair.base, _numbered(base)) if base else None,
        head=over_attempts(pair.head, _numbered(suspect.head)) if suspect.head else None,
    )


def _numbered(attempts: Sequence[AttemptReport]) -> list[AttemptReport]:
    return [replace(attempt, attempt=number) for number, attempt in enumerate(attempts, start=1)]


def unrun(pair: Pair, reason: str, state: SuspectState = "open") -> Suspect:
    """A suspect without fresh runs: it could not be run again, or the cap was reached."""
    return Suspect(
        suite=pair.head.suite,
        key=pair.head.key,
        name=pair.head.name,
        critical=is_critical(pair),
        state=state,
        reason=reason,
    )


def of_stored_runs(pairs: Sequence[Pair], rule: RegressionRule) -> tuple[Suspect, ...]:
    """Suspects of two stored documents: the same runs select and test.

    Therefore Holm is over all cases. A critical case that passed all of at least three runs and failed all of at
    least three is confirmed; one with fewer stays open. Another case that did so is listed as `unrun`; for this,
    errors of the head count as failures. If they would confirm the loss, the case is open. If so few runs are
    stored that no result could be a loss of the whole, the number of cases that turned from pass to fail decides.
    """
    turned = [pair for pair in pairs if _all_of(pair, 1)]
    p = _p_of_number([(pair.before.runs, pair.now.runs) for pair in turned], len(pairs))
    if p <= LEVEL_OF_NUMBER * rule.alpha and _least_p(pairs) > rule.alpha:
        lost = {pair.key for pair in turned}
        rest = [one for one in _one_by_one(pairs, rule) if (one.suite, one.key) not in lost]
        return (*(replace(unrun(pair, "", "confirmed"), p_value=p) for pair in turned), *rest)
    return _one_by_one(pairs, rule)


def _least_p(pairs: Sequence[Pair]) -> float:
    """The p of the pass rate if every case had passed all its runs and failed all now."""
    return exp(-fsum(log(comb(pair.before.runs + pair.now.runs, pair.now.runs)) for pair in pairs))


def _one_by_one(pairs: Sequence[Pair], rule: RegressionRule) -> tuple[Suspect, ...]:
    erring = [pair for pair in pairs if not pair.now.runs and only_errors_now(pair)]
    looking = [*candidates(pairs), *erring]
    suspects = [_of_stored_runs(pair, rule, LEVEL * rule.alpha / len(pairs)) for pair in looking]
    return tuple(suspect for suspect in suspects if suspect is not None)


def _of_stored_runs(pair: Pair, rule: RegressionRule, level: float) -> Suspect | None:
    if unknown_on_base(pair) and pair.now.runs and not pair.now.passes:
        return unrun(pair, UNKNOWN, "unrun" if _may_err(pair, rule) else "open")
    p = case_p(*_stored_values(pair))
    surely = _all_of(pair, STORED_RUNS)
    if p <= level or (surely and is_critical(pair)):
        return replace(unrun(pair, "", "confirmed"), p_value=p)
    if is_critical(pair):
        few = _all_of(pair, 1)
        return unrun(pair, "too few runs, and nothing was run again") if few else None
    if not pair.now.complete and _p_of_failures(pair) <= level:
        return unrun(pair, "what could not be measured would decide")
    return unrun(pair, "nothing was run again", "unrun") if surely or _never_passes(pair) else None


def _p_of_failures(pair: Pair) -> float:
    """The p of a case if all that errored on the head had failed."""
    before, now = pair.before.outcomes, pair.now.outcomes
    return case_p(before, now + (0.0,) * (pair.now.due - len(now)))


def _never_passes(pair: Pair) -> bool:
    """Whether it passed all of at least three runs of the base, and of as many of the head none."""
    before, now = pair.before, pair.now
    failed = now.runs > now.passes == 0
    return before.passes == before.runs >= STORED_RUNS and failed and now.due >= STORED_RUNS


def only_errors_now(pair: Pair) -> bool:
    """Whether a case that is not critical passed all its runs of the base and has errors alone now."""
    if pair.now.runs or not pair.now.due or is_critical(pair):
        return False
    errored = any(attempt.status is Outcome.ERRORED for attempt in pair.head.attempts)
    return errored and pair.before.passes == pair.before.runs > 0


def _all_of(pair: Pair, runs: int) -> bool:
    before, now = pair.before, pair.now
    complete = before.runs == before.due and now.runs == now.due
    return complete and before.passes == before.runs >= runs and now.passes == 0 and now.runs >= runs


def _stored_values(pair: Pair) -> tuple[Sequence[float], Sequence[float]]:
    if by_share(pair):
        return pair.before.values, pair.now.values
    return pair.before.outcomes, pair.now.outcomes
