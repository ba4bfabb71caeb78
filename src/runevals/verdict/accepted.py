"""Which cases a comparison lost, by the fingerprints of both sides; and what it says of all others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from runevals.lib.parsing.canonical import fingerprint
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import short_list
from runevals.records import (
    REMOVED,
    Acceptance,
    AcceptedLoss,
    CaseReport,
    Change,
    Comparison,
    ModelIdentity,
    RegressionRule,
    RunReport,
)
from runevals.verdict.comparability import both_deterministic, varies_by_judge
from runevals.verdict.compare import FreshRuns, Sides, compare
from runevals.verdict.suspects import candidates, is_critical_case, only_errors
from runevals.verdict.verification import not_lost

LONGEST_REASONS = 300  # characters of the headline
Key = tuple[str, str]  # suite and key


def lost_cases(comparison: Comparison, target: ModelIdentity) -> tuple[AcceptedLoss, ...]:
    """The cases that look lost or are, as entries without a reason. `target` answered for the head.

    Where the head was run on the base's suite, so are all that the change removed, lost there or not.
    """
    changes = _lost_changes(comparison)
    if comparison.on_base_suite:
        removed = comparison.of_kind("removed")
        keys = {(change.suite, change.key) for change in removed}
        changes = [*(change for change in changes if (change.suite, change.key) not in keys), *removed]
    return tuple(_loss(change, comparison, target) for change in changes)


def _lost_changes(comparison: Comparison) -> list[Change]:
    confirmed = {(suspect.suite, suspect.key) for suspect in comparison.suspects if suspect.state == "confirmed"}
    removed = set(comparison.critical_lost)
    return [
        change
        for change in comparison.changes
        if change.base is not None
        and (
            change.change == "regressed"
            or (change.suite, change.key) in confirmed
            or (change.change == "removed" and change.key in removed)
        )
    ]


def _loss(change: Change, comparison: Comparison, target: ModelIdentity) -> AcceptedLoss:
    assert change.base is not None  # noqa: S101 - it was there
    return AcceptedLoss(
        suite=change.suite,
        case=change.key,
        base=_fingerprint(change.base, comparison.base.run.target),
        head=REMOVED if change.head is None else _fingerprint(change.head, target),
    )


def _fingerprint(case: CaseReport, target: ModelIdentity) -> str:
    """Of what was asked and which target answered: it ends when either is another."""
    return fingerprint([case.content, target.type, target.model, target.prompt_hash])


def without_accepted(
    report: RunReport, comparison: Comparison, losses: Sequence[AcceptedLoss], rule: RegressionRule
) -> tuple[RunReport, Comparison | None]:
    """The run without its accepted losses, and what it says against the base; None if no other case is shared.

    `report`: where the base's suite decided, the head's run there.
    """
    accepted = _of_head(losses)
    removed = {(loss.suite, loss.case) for loss in losses if loss.head == REMOVED}
    accepted |= removed if comparison.on_base_suite else set()
    on_base = removed | {
        (change.base.suite, change.base.key)
        for change in comparison.changes
        if change.base is not None and change.head is not None and (change.suite, change.key) in accepted
    }
    head, base = _without(report, accepted), _without(comparison.base, on_base)
    sides = Sides.of(head, base)
    if not sides.pairs and not any(map(is_critical_case, sides.matched.removed)):
        return head, None
    suspects = tuple(one for one in comparison.suspects if (one.suite, one.key) not in accepted)
    promised = both_deterministic(report, comparison.base)
    fresh = FreshRuns(suspects, promise_broken=promised and not comparison.deterministic)
    rest = compare(head, base, comparison.source, rule=rule, fresh=fresh)
    verification = comparison.verification
    if verification is not None and verification.state == "not_confirmed":
        rest = replace(not_lost(rest), verification=verification)
    return head, replace(rest, weakenings=comparison.weakenings)


def without_cases(report: RunReport, losses: Sequence[AcceptedLoss]) -> RunReport:
    """The run without the cases of these losses."""
    return _without(report, _of_head(losses))


def _of_head(losses: Sequence[AcceptedLoss]) -> set[Key]:
    return {(loss.suite, loss.case) for loss in losses if loss.head != REMOVED}


def _without(report: RunReport, keys: Collection[Key]) -> RunReport:
    return replace(report, cases=tuple(case for case in report.cases if (case.suite, case.key) not in keys))


def unsettled(head: RunReport, rest: Comparison, rule: RegressionRule) -> str:
    """Other cases that look lost and were not run again, because the run ended with the accepted loss."""
    pairs, known = Sides.of(head, rest.base).pairs, {(suspect.suite, suspect.key) for suspect in rest.suspects}
    looking = [*candidates(pairs), *only_errors(pairs, rule)]
    if rest.deterministic:  # every other difference is a loss already
        looking = [pair for pair in looking if varies_by_judge(pair)]
    keys = short_list([pair.head.key for pair in looking if pair.key not in known])
    return f"{keys} may be lost, and the run ended before that was settled" if keys else ""


def acceptance_headline(acceptance: Acceptance) -> str:
    """ "3 regressed, accepted by @ana: shorter answers are wanted"."""
    removed = sum(loss.head == REMOVED for loss in acceptance.losses)
    regressed = len(acceptance.losses) - removed
    counts = [f"{number} {word}" for number, word in ((regressed, "regressed"), (removed, "removed")) if number]
    reasons = "; ".join(dict.fromkeys(one_line(loss.reason) for loss in acceptance.losses))
    return f"{', '.join(counts)}, accepted by @{acceptance.by}: {one_line(reasons, LONGEST_REASONS)}"
