"""The headline of a comparison, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.lib.text.numbers import capitalised, p_value, plural, points, short_list
from runevals.records import Comparison, ComparisonVerdict, Hypothesis
from runevals.verdict.families import deciding
from runevals.verdict.wording import not_confirmed, unsettled

_METRICS = {"pass_rate": "pass rate", "share": "score"}


def loss(comparison: Comparison) -> str:
    """What was lost: cases by their number, the whole or a part by its drop and p."""
    parts = []
    regressed = comparison.of_kind("regressed")
    sure, of = sum(change.label == "confirmed" for change in regressed), plural(comparison.compared, "case")
    if sure:
        fine = {(suspect.suite, suspect.key) for suspect in not_confirmed(comparison)}
        more = sum(c.label != "confirmed" and (c.suite, c.key) not in fine for c in regressed)
        parts.append(f"{sure} of {of} regressed" + (f", {more} more may have" if more else ""))
    elif regressed and _clearest(comparison):
        parts.append(f"{len(regressed)} of {of} failed that passed on the base")
    elif any(suspect.state == "confirmed" for suspect in comparison.suspects):
        lost = [suspect for suspect in comparison.suspects if suspect.state == "confirmed"]
        parts.append(f"{plural(len(lost), 'case')} lost: {short_list([suspect.key for suspect in lost])}")
    if comparison.critical_lost:
        word = "a critical case is" if len(comparison.critical_lost) == 1 else "critical cases are"
        parts.append(f"{word} lost: {short_list(comparison.critical_lost)}")
    if not comparison.deterministic or not parts:
        parts += [dropped(hypothesis) for hypothesis in _clearest(comparison)]
    text = "; ".join(parts) or f"{_METRICS[comparison.metric]} dropped"
    return capitalised(text)


def _clearest(comparison: Comparison) -> Sequence[Hypothesis]:
    """Of the lost hypotheses the whole's, or else the clearest of a part."""
    deciders = deciding(comparison.hypotheses, deterministic=comparison.deterministic)
    lost = [hypothesis for hypothesis in deciders if hypothesis.finding == "lost"]
    lost.sort(key=lambda hypothesis: (hypothesis.family != "whole", hypothesis.corrected_p))
    return lost[:1]


def dropped(hypothesis: Hypothesis) -> str:
    """ "the pass rate of 20 cases of suite refunds fell by 47.0 points (p < 0.0001)"."""
    of = plural(hypothesis.cases, "case")
    where = of if hypothesis.family == "whole" else f"{of} of {hypothesis.family} {hypothesis.name[:60]}"
    fell = f"fell by {100 * hypothesis.drop:.1f} points ({p_value(hypothesis.p_value)})"
    return f"the {_METRICS[hypothesis.metric]} of {where} {fell}"


def small(comparison: Comparison) -> str:
    """A drop that is real and does not block, with the cases that may be lost if nothing was run again."""
    hypothesis = next(h for h in comparison.hypotheses if h.finding == "small")
    unrun = [suspect.key for suspect in comparison.suspects if suspect.state == "unrun"]
    where = "spread over many cases, no single case confirmed lost"
    if unrun:
        where = f"{short_list(unrun)} may be lost, nothing was run again"
    size = f"{100 * hypothesis.drop:.1f} points"
    return f"A real drop of {size}, below what blocks ({p_value(hypothesis.p_value)}; {where})"


def inconclusive(comparison: Comparison) -> str:
    """What is unclear, and the setting that would resolve it."""
    unclear = [hypothesis for hypothesis in comparison.hypotheses if hypothesis.finding == "unclear"]
    if comparison.inconclusive_by == "families" and unclear:
        text = f"{dropped(min(unclear, key=lambda hypothesis: hypothesis.p_value))}: it may be noise"
        runs = comparison.repeats_for_half or comparison.repeats_needed
        more = f"{runs} runs of each case" if comparison.base.run.of_tool else f"`repeat: {runs}`"
        return f"Inconclusive – {text}" + (f"; {more} on both sides would settle it" if runs else "")
    return f"Inconclusive – {comparison.why}"


def no_loss(comparison: Comparison) -> str:
    """A comparison that shows no loss."""
    of = plural(comparison.compared, "case")
    if doubts := unsettled(comparison):
        keys = short_list([suspect.key for suspect in doubts])
        if all(suspect.base is not None for suspect in doubts):
            return f"The stored base no longer holds for {plural(len(doubts), 'case')}: {keys}"
        return f"{plural(len(doubts), 'case')} may be lost, not settled: {keys}"
    against = f" against {comparison.source}" if _moved(comparison) else ""
    if comparison.verdict is ComparisonVerdict.IMPROVED:
        fixed, regressed = len(comparison.of_kind("fixed")), len(comparison.of_kind("regressed"))
        if fixed:
            return f"Improved{against} – {plural(fixed, 'case')} fixed, {regressed or 'none'} regressed"
        return (
            f"Improved{against} – the score of {of} rose by {points(-(comparison.drop or 0.0)).removeprefix('+')}"
        )
    text = f"No regression shown in {of}{against}"
    return f"{text}: {_moved(comparison)}" if _moved(comparison) else text


def _moved(comparison: Comparison) -> str:
    """How far the stored base had moved, if a fresh run replaced it."""
    verification = comparison.verification
    return verification.reason if verification is not None and verification.state == "moved" else ""
