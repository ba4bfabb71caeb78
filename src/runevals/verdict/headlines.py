"""The one sentence that says what a comparison found."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.lib.text.numbers import capitalised, p_value, plural, points, short_list
from runevals.records import Comparison, ComparisonVerdict, Hypothesis

_METRICS = {"pass_rate": "pass rate", "share": "score"}


def loss(comparison: Comparison) -> str:
    """What was lost: cases by their number, the whole or a part by its drop and p."""
    told = []
    regressed = comparison.of_kind("regressed")
    sure, of = sum(change.label == "confirmed" for change in regressed), plural(comparison.compared, "case")
    if sure:
        more = len(regressed) - sure
        told.append(f"{sure} of {of} regressed" + (f", {more} more may have" if more else ""))
    elif regressed and _clearest(comparison):
        told.append(f"{len(regressed)} of {of} failed that passed on the base")
    elif any(suspect.state == "confirmed" for suspect in comparison.suspects):
        lost = [suspect for suspect in comparison.suspects if suspect.state == "confirmed"]
        told.append(f"{plural(len(lost), 'case')} lost: {short_list([suspect.key for suspect in lost])}")
    if comparison.critical_lost:
        word = "a critical case is" if len(comparison.critical_lost) == 1 else "critical cases are"
        told.append(f"{word} lost: {short_list(comparison.critical_lost)}")
    if not comparison.deterministic:
        told += [dropped(found) for found in _clearest(comparison)]
    text = "; ".join(told) or f"{_METRICS[comparison.metric]} dropped"
    return capitalised(text)


def _clearest(comparison: Comparison) -> Sequence[Hypothesis]:
    """Of the lost hypotheses the whole's, or else the clearest of a part."""
    lost = [found for found in comparison.hypotheses if found.finding == "lost"]
    lost.sort(key=lambda found: (found.family != "whole", found.corrected_p))
    return lost[:1]


def dropped(found: Hypothesis) -> str:
    """ "the pass rate of 20 cases of suite refunds fell by 47.0 points (p < 0.0001)"."""
    of = plural(found.cases, "case")
    where = of if found.family == "whole" else f"{of} of {found.family} {found.name[:60]}"
    fell = f"fell by {100 * found.drop:.1f} points ({p_value(found.p_value)})"
    return f"the {_METRICS[found.metric]} of {where} {fell}"


def small(comparison: Comparison) -> str:
    """A drop that is real and does not block."""
    found = next(h for h in comparison.hypotheses if h.finding == "small")
    return (
        f"A real drop of {100 * found.drop:.1f} points, below what blocks ({p_value(found.p_value)}; "
        "spread over many cases, no single case confirmed lost)"
    )


def inconclusive(comparison: Comparison) -> str:
    """What is not known, and the one setting that would settle it."""
    unclear = [found for found in comparison.hypotheses if found.finding == "unclear"]
    if comparison.inconclusive_by == "families" and unclear:
        told = f"{dropped(min(unclear, key=lambda found: found.p_value))}: it may be noise"
        runs = comparison.repeats_for_half or comparison.repeats_needed
        return f"Inconclusive – {told}" + (f"; `repeat: {runs}` on both sides would settle it" if runs else "")
    return f"Inconclusive – {comparison.why}"


def no_loss(comparison: Comparison) -> str:
    """A comparison that shows no loss."""
    of = plural(comparison.compared, "case")
    against = f" against {comparison.source}" if _moved(comparison) else ""
    if comparison.verdict is ComparisonVerdict.IMPROVED:
        fixed, regressed = len(comparison.of_kind("fixed")), len(comparison.of_kind("regressed"))
        if fixed:
            return f"Improved{against} – {plural(fixed, 'case')} fixed, {regressed or 'none'} regressed"
        return (
            f"Improved{against} – the score of {of} rose by {points(-(comparison.drop or 0.0)).removeprefix('+')}"
        )
    told = f"No regression shown in {of}{against}"
    return f"{told}: {_moved(comparison)}" if _moved(comparison) else told


def _moved(comparison: Comparison) -> str:
    """How far the stored base had moved, where it was replaced by a fresh run of it."""
    found = comparison.verification
    return found.reason if found is not None and found.state == "moved" else ""
