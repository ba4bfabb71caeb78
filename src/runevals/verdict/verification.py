"""A failure of the whole or of a part, looked at again: fresh runs of both sides before it blocks anybody."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

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
from runevals.verdict.families import WHOLE, Level, Place, families, metric_test
from runevals.verdict.headlines import loss
from runevals.verdict.matching import Pair
from runevals.verdict.regression import MIN_ARRIVED, open_cases
from runevals.verdict.score import pooled
from runevals.verdict.wording import error_kinds

VERIFY_OFF = "verify: off"
FRESH_P = 0.10  # to be lost again, the fresh runs of both sides alone must differ as much
MAYBE_REAL_P = 0.10
MOVED_P = 0.01  # two-sided: the stored base is another than the fresh one
WORTH_TELLING = 0.05  # of a move of the base


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshLook:
    """Both sides measured anew, in turn: an hour that is bad for one is as bad for the other."""

    base: RunReport
    head: RunReport
    source: str  # in words, what the base's runs are


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLook:
    """What the fresh runs said of the lost hypotheses."""

    confirmed: bool
    against: Hypothesis  # the scored runs of the head against the fresh base; of the lost ones, the clearest
    fresh_p: float  # of the fresh runs of both sides alone


def lost_places(comparison: Comparison) -> tuple[Place, ...]:
    """What would block: the whole, or parts."""
    return tuple(dict.fromkeys((h.family, h.name) for h in comparison.hypotheses if h.finding == "lost"))


def pairs_in(pairs: Sequence[Pair], places: Collection[Place]) -> Sequence[Pair] | None:
    """The cases that these hypotheses are about; None for all."""
    if WHOLE in places:
        return None
    return [pair for pair in pairs if any(getattr(pair.head, family) == name for family, name in places)]


def second_look(
    head: RunReport, look: FreshLook, places: Collection[Place], rule: RegressionRule
) -> SecondLook | str:
    """Whether any of the lost hypotheses is lost again; a text says why the fresh runs do not tell.

    It must be lost against the fresh base (mid-p at alpha: what looking early costs is spent already), and in the
    fresh runs of both sides alone (p ≤ 0.10): so a bad hour of a provider blocks nobody.
    """
    sides = Sides.of(head, look.base)
    again = families(sides.asked, Level(rule.alpha, rule, mid=True), only=places).hypotheses
    alone = families(Sides.of(look.head, look.base).asked, Level(rule.alpha, rule), only=places).hypotheses
    due = [pair for pair in sides.asked if pair.before.due]
    if not again or not alone or sum(p.complete for p in due) < MIN_ARRIVED * len(due):
        kinds = error_kinds(look.base) or error_kinds(look.head)
        return f"{look.source} could not be compared with" + (f" ({kinds})" if kinds else "")
    fresh = {(h.family, h.name, h.metric): h.p_value for h in alone}
    found = [
        SecondLook(confirmed=h.finding == "lost" and p <= FRESH_P, against=h, fresh_p=p)
        for h in again
        if (p := fresh.get((h.family, h.name, h.metric))) is not None
    ]
    return min(found, key=lambda one: (not one.confirmed, one.against.corrected_p))


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoLooks:
    """Both looks at one change."""

    head: RunReport
    base: RunReport
    look: FreshLook
    seen: SecondLook
    rule: RegressionRule
    moved: str = ""  # what is said of a base that a fresh one has replaced


def confirmed(stored: Comparison, looked: TwoLooks) -> Comparison:
    """A loss that was seen again. With the runs of both looks together, more cases can be named."""
    seen, look = looked.seen, looked.look
    reason = f"confirmed against {look.source}"
    moved, _ = _move(looked.base, look)
    if looked.moved:
        reason += f"; {looked.moved}"
    elif abs(moved) >= WORTH_TELLING:
        since = f"{points(-seen.against.drop)} ({p_value(seen.against.p_value)})"
        reason += f"; the base itself moved by {points(moved)}, and from there it is {since}"
    both = pooled(looked.base, [look.base])
    changes = compare(looked.head, both, stored.source, rule=looked.rule).changes
    sure = compare(pooled(looked.head, [look.head]), both, stored.source, rule=looked.rule).changes
    return replace(
        stored,
        changes=_relabelled(changes, stored.changes, sure),
        verification=Verification(state="confirmed", reason=reason),
    )


def _relabelled(changes: Sequence[Change], *sure: Sequence[Change]) -> tuple[Change, ...]:
    """Regressed cases are confirmed where any of `sure` says so."""
    named = {(c.suite, c.key) for some in sure for c in some if c.label == "confirmed"}
    return tuple(
        replace(change, label="confirmed" if (change.suite, change.key) in named else "suspect")
        if change.change == "regressed"
        else change
        for change in changes
    )


def not_confirmed(stored: Comparison, looked: TwoLooks) -> Comparison:
    """A loss that was not seen again; it may be real and is not shown."""
    seen, look = looked.seen, looked.look
    told = f"against {look.source} {points(-seen.against.drop)} ({p_value(seen.against.p_value)})"
    if seen.against.finding == "lost":
        told += f", but the fresh runs of both sides alone hardly differ ({p_value(seen.fresh_p)})"
    if seen.against.drop > 0 and seen.against.p_value <= MAYBE_REAL_P:
        told += "; it may be real"
    verification = Verification(state="not_confirmed", reason=told)
    return replace(_not_lost(stored), verification=verification)


def _not_lost(found: Comparison) -> Comparison:
    """`found`, not confirmed; a case that is still open, or what errored, leaves it inconclusive."""
    unknown = found.inconclusive_by in ("suspects", "errors") or found.verdict is ComparisonVerdict.INCOMPARABLE
    if unknown:
        return found
    still_open = [suspect for suspect in found.suspects if suspect.state == "open"]
    if still_open:
        why = open_cases(still_open)
        return replace(found, verdict=ComparisonVerdict.INCONCLUSIVE, why=why, inconclusive_by="suspects")
    return replace(found, verdict=ComparisonVerdict.NOT_CONFIRMED, why="", inconclusive_by=None)


def base_moved(base: RunReport, look: FreshLook) -> str:
    """How far the fresh base lies from the stored one, where they differ by more than chance; else empty."""
    moved, p = _move(base, look)
    return f"the stored base no longer holds: it moved by {points(moved)} ({p_value(p)})" if p <= MOVED_P else ""


def _move(base: RunReport, look: FreshLook) -> tuple[float, float]:
    """(how far the fresh base's mean lies from the stored one's, two-sided p)."""
    measured = Sides.of(look.base, base).measured
    test = metric_test(measured, "pass_rate") if measured else None
    if test is None:
        return 0.0, 1.0
    return -test.drop, min(1.0, 2 * min(test.p_value, test.gain_p_value))


def unverified(found: Comparison, why: str, stale: Sequence[str] = ()) -> Comparison:
    """A loss that could not be looked at again stands if it is one by the exact p, and says why.

    Against a base that may be another by now (`stale` says why), nobody knows.
    """
    state: Literal["off", "impossible"] = "off" if why == VERIFY_OFF else "impossible"
    if stale and not any(suspect.state == "confirmed" for suspect in found.suspects):
        doubt = f"{loss(found)}; but {stale[0]}, and it could not be run again ({why})"
        found = replace(found, verdict=ComparisonVerdict.INCONCLUSIVE, why=doubt, inconclusive_by="base")
    return replace(found, verification=Verification(state=state, reason=f"not verified: {why}"))
