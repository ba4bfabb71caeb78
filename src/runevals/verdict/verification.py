"""A would-be red, seen again: held to a fresh run of the base before it blocks anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from runevals.lib.text.numbers import p_value, points
from runevals.records import Change, Comparison, ComparisonVerdict, Verification

VERIFY_OFF = "verify: off"
WORTH_TELLING = 0.05  # of a move of the base


def needs_verification(comparison: Comparison) -> bool:
    """Whether a red must be seen again against a fresh run of the base: a deterministic one need not."""
    return comparison.verdict is ComparisonVerdict.REGRESSION and not comparison.deterministic


def verified(stored: Comparison, fresh: Comparison, changes: Sequence[Change]) -> Comparison:
    """A red against the stored base, held to a fresh run of it: red again, or not confirmed.

    `changes` are those against both runs of the base together: where they agree, more can be named.
    """
    moved = (fresh.base_mean or 0.0) - (stored.base_mean or 0.0)
    if fresh.verdict is ComparisonVerdict.REGRESSION:
        reason = f"confirmed against {fresh.source}"
        if abs(moved) >= WORTH_TELLING and fresh.drop is not None and fresh.p_value is not None:
            since = f"{points(-fresh.drop)} ({p_value(fresh.p_value)})"
            reason += f"; the base itself moved by {points(moved)}, and from there it is {since}"
        return replace(
            stored,
            verdict=ComparisonVerdict.REGRESSION,
            changes=tuple(changes),
            verification=Verification(state="confirmed", reason=reason),
        )
    if fresh.verdict in (ComparisonVerdict.INCONCLUSIVE, ComparisonVerdict.INCOMPARABLE):
        return unverified(stored, f"{fresh.source} could not be compared with")
    reason = f"the stored base no longer holds (it moved by {points(moved)})"
    return replace(
        stored,
        verdict=ComparisonVerdict.NOT_CONFIRMED,
        verification=Verification(state="not_confirmed", reason=reason),
    )


def unverified(stored: Comparison, why: str) -> Comparison:
    """A red that could not be verified stands if it is one by the exact p, and says why."""
    state: Literal["off", "impossible"] = "off" if why == VERIFY_OFF else "impossible"
    return replace(stored, verification=Verification(state=state, reason=f"not verified: {why}"))
