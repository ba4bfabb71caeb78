"""Verification of a failure of the whole or of a part: fresh runs of both sides before it blocks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.text.numbers import p_value, points
from runevals.records import (
    Change,
    Comparison,
    ComparisonVerdict,
    Hypothesis,
    RegressionRule,
    RunReport,
    Verification,
)
from runevals.verdict.compare import Sides, compare
from runevals.verdict.families import WHOLE, Level, Place, deciding, families, metric_test
from runevals.verdict.headlines import loss
from runevals.verdict.matching import Key, Pair
from runevals.verdict.regression import MIN_ARRIVED, open_cases
from runevals.verdict.score import pooled
from runevals.verdict.wording import error_kinds

VERIFY_OFF = "verify: off"
FRESH_P = 0.10  # to be lost again, the fresh runs of both sides alone must differ as much
MAYBE_REAL_P = 0.10
MOVED_P = 0.01  # two-sided: the stored base differs from the fresh one
WORTH_TELLING = 0.05  # of a move of the base


class FreshLook(Struct, frozen=True, kw_only=True):
    """Fresh runs of both sides in turn, so that a bad hour of a provider affects both alike."""

    base: RunReport
    head: RunReport
    source: str  # names the base's runs in messages


class SecondLook(Struct, frozen=True, kw_only=True):
    """The result of the fresh runs for the lost hypotheses."""

    confirmed: bool
    against: Hypothesis  # the scored runs of the head against the fresh base; of the lost ones, the clearest
    fresh_p: float  # of the fresh runs of both sides alone


def of_same_code(look: FreshLook, stored: RunReport, source: str) -> FreshLook:
    """Fresh runs of the code that the stored result is of: all of them are the head's, and that is the base."""
    return FreshLook(
        base=stored, head=pooled(look.head, [look.base]), source=f"{source}, by fresh runs of the same code"
    )


def lost_places(comparison: Comparison) -> tuple[Place, ...]:
    """What would block: the whole, or parts."""
    hypotheses = deciding(comparison.hypotheses, deterministic=comparison.deterministic)
    return tuple(dict.fromkeys((h.family, h.name) for h in hypotheses if h.finding == "lost"))


def pairs_in(pairs: Sequence[Pair], places: Collection[Place]) -> Sequence[Pair] | None:
    """The cases that these hypotheses are about; None for all."""
    if WHOLE in places:
        return None
    return [pair for pair in pairs if any(getattr(pair.base, family) == name for family, name in places)]


def second_look(
    head: RunReport, look: FreshLook, places: Collection[Place], rule: RegressionRule
) -> SecondLook | str:
    """Whether any of the lost hypotheses is lost again; a text says why the fresh runs cannot decide.

    It must be lost against the fresh base (mid-p at alpha: early looks are corrected for already), and in the
    fresh runs of both sides alone (p ≤ 0.10), so that a bad hour of a provider does not block.
    """
    sides = Sides.of(head, look.base)
    again = families(sides.due, Level(rule.alpha, rule, mid=True), only=places).hypotheses
    alone = families(Sides.of(look.head, look.base).due, Level(rule.alpha, rule), only=places).hypotheses
    due = [pair for pair in sides.due if pair.before.due]
    if not again or not alone or sum(p.complete for p in due) < MIN_ARRIVED * len(due):
        kinds = error_kinds(look.base) or error_kinds(look.head)
        return f"{look.source} could not be compared with" + (f" ({kinds})" if kinds else "")
    fresh = {(h.family, h.name, h.metric): h.p_value for h in alone}
    looks = [
        SecondLook(confirmed=h.finding == "lost" and p <= FRESH_P, against=h, fresh_p=p)
        for h in again
        if (p := fresh.get((h.family, h.name, h.metric))) is not None
    ]
    return min(looks, key=lambda one: (not one.confirmed, one.against.corrected_p))


class TwoLooks(Struct, frozen=True, kw_only=True):
    """The scored runs of a change and its fresh runs."""

    head: RunReport
    base: RunReport
    look: FreshLook
    second: SecondLook
    rule: RegressionRule
    moved: str = ""  # the note about a base that a fresh one replaced


def confirmed(stored: Comparison, looks: TwoLooks) -> Comparison:
    """A loss that was confirmed. The runs of both looks together can identify more cases."""
    second, look = looks.second, looks.look
    reason = f"confirmed against {look.source}"
    moved, _ = _move(looks.base, look)
    if looks.moved:
        reason += f"; {looks.moved}"
    elif abs(moved) >= WORTH_TELLING:
        since = f"{points(-second.against.drop)} ({p_value(second.against.p_value)})"
        reason += f"; the base itself moved by {points(moved)}, and from there it is {since}"
    both = looks.base if look.base is looks.base else pooled(looks.base, [look.base])
    changes = compare(looks.head, both, stored.source, rule=looks.rule).changes
    sure = compare(pooled(looks.head, [look.head]), both, stored.source, rule=looks.rule).changes
    return replace(
        stored,
        changes=_relabelled(changes, stored.changes, sure),
        verification=Verification(state="confirmed", reason=reason),
    )


def _relabelled(changes: Sequence[Change], *sure: Sequence[Change]) -> tuple[Change, ...]:
    """Regressed cases are confirmed if any of `sure` says so."""
    confirmed_keys = {(c.suite, c.key) for some in sure for c in some if c.label == "confirmed"}
    return tuple(
        replace(change, label="confirmed" if (change.suite, change.key) in confirmed_keys else "suspect")
        if change.change == "regressed"
        else change
        for change in changes
    )


def not_confirmed(stored: Comparison, looks: TwoLooks) -> Comparison:
    """A loss that was not confirmed; it may be real."""
    second, look = looks.second, looks.look
    reason = f"against {look.source} {points(-second.against.drop)} ({p_value(second.against.p_value)})"
    if second.against.finding == "lost":
        reason += f", but the fresh runs of both sides alone hardly differ ({p_value(second.fresh_p)})"
    if second.against.drop > 0 and second.against.p_value <= MAYBE_REAL_P:
        reason += "; it may be real"
    verification = Verification(state="not_confirmed", reason=reason)
    return replace(not_lost(stored), verification=verification)


def not_lost(comparison: Comparison) -> Comparison:
    """`comparison`, not confirmed; a lost case blocks, and an open case or an error leaves it inconclusive."""
    lost_cases = {(suspect.suite, suspect.key) for suspect in comparison.suspects if suspect.state == "confirmed"}
    if lost_cases or comparison.critical_lost:
        return _only_cases(comparison, lost_cases)
    unknown = (
        comparison.inconclusive_by in ("suspects", "errors")
        or comparison.verdict is ComparisonVerdict.INCOMPARABLE
    )
    if unknown:
        return comparison
    still_open = [suspect for suspect in comparison.suspects if suspect.state == "open"]
    if still_open:
        why = open_cases(still_open)
        return replace(comparison, verdict=ComparisonVerdict.INCONCLUSIVE, why=why, inconclusive_by="suspects")
    return replace(comparison, verdict=ComparisonVerdict.NOT_CONFIRMED, why="", inconclusive_by=None)


def _only_cases(comparison: Comparison, lost: Collection[Key]) -> Comparison:
    """`comparison` with these cases as its only loss: that of the whole or of a part is not confirmed."""
    hypotheses = tuple(
        replace(hypothesis, finding="unclear") if hypothesis.finding == "lost" else hypothesis
        for hypothesis in comparison.hypotheses
    )
    changes = tuple(
        replace(change, label="suspect")
        if change.label == "confirmed" and (change.suite, change.key) not in lost
        else change
        for change in comparison.changes
    )
    return replace(comparison, hypotheses=hypotheses, changes=changes)


def base_moved(base: RunReport, look: FreshLook) -> str:
    """How far the fresh base lies from the stored one, if they differ by more than chance; else empty."""
    moved, p = _move(base, look)
    return f"the stored base no longer holds: it moved by {points(moved)} ({p_value(p)})" if p <= MOVED_P else ""


def fell(base: RunReport, look: FreshLook) -> bool:
    """Whether the fresh base is worse than the stored one by more than chance."""
    moved, p = _move(base, look)
    return moved < 0 and p <= MOVED_P


def _move(base: RunReport, look: FreshLook) -> tuple[float, float]:
    """(how far the fresh base's mean lies from the stored one's, two-sided p)."""
    measured = Sides.of(look.base, base).measured
    test = metric_test(measured, "pass_rate") if measured else None
    if test is None:
        return 0.0, 1.0
    return -test.drop, min(1.0, 2 * min(test.p_value, test.gain_p_value))


def unverified(comparison: Comparison, why: str, doubt: str = "") -> Comparison:
    """A loss that could not be verified stands if the exact p shows it, and says why.

    If there is a `doubt` about the base, it is inconclusive, unless a single case is lost.
    """
    state: Literal["off", "impossible"] = "off" if why == VERIFY_OFF else "impossible"
    lost_case = comparison.critical_lost or any(one.state == "confirmed" for one in comparison.suspects)
    if doubt and not lost_case:
        but = f"{loss(comparison)}; but {doubt}"
        comparison = replace(comparison, verdict=ComparisonVerdict.INCONCLUSIVE, why=but, inconclusive_by="base")
    return replace(comparison, verification=Verification(state=state, reason=f"not verified: {why}"))
