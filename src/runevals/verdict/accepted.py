"""Which cases a comparison lost, by the fingerprints of both sides; and what it says of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from runevals.lib.parsing.canonical import fingerprint
from runevals.lib.record_from import record_from
from runevals.lib.text.escape import one_line
from runevals.records import (
    ADDED,
    REMOVED,
    Acceptance,
    AcceptedLoss,
    CaseReport,
    Change,
    Comparison,
    Conclusion,
    Finding,
    ModelIdentity,
    Reason,
    RegressionRule,
    RunReport,
    State,
)
from runevals.records.report import is_critical
from runevals.verdict.comparability import both_deterministic
from runevals.verdict.compare import compare_sides
from runevals.verdict.findings import FreshEvidence, stored_findings
from runevals.verdict.lost_together import blocking_losses, is_in
from runevals.verdict.matching import Key
from runevals.verdict.parts import Place
from runevals.verdict.sides import Sides

_OF_FRESH = (Reason.PROVEN, Reason.BUDGET, Reason.BASE_FILES, Reason.BASE_EDITS)  # what fresh rounds say of a loss
# The reasons that hold for a part with accepted cases, and for one without; what can be compared is counted anew.
_HOLDS = {True: {Reason.BASE_ALIKE}, False: {*Reason} - {Reason.INCOMPARABLE}}
BESIDE_ACCEPTED = "the other cases look lost as well, and fresh runs were made of all together"
LONGEST_REASONS = 300  # characters of the headline


def lost_cases(conclusion: Conclusion) -> tuple[AcceptedLoss, ...]:
    """The cases that look lost or are, as entries without a reason."""
    comparison, report = conclusion.comparison, conclusion.report
    if comparison is None:
        return ()
    blocking = blocking_losses(conclusion)
    # What did not change is the same on the base, of which documents keep no more.
    same = (record_from(Change, one, change="worse", base=one, head=one) for one in _unchanged(report, comparison))
    return tuple(
        AcceptedLoss(
            suite=change.suite,
            case=change.key,
            base=_fingerprint(change.base, comparison.base.run.target, ADDED),
            head=_fingerprint(change.head, report.run.target, REMOVED),
        )
        for change in (*comparison.changes, *same)
        if change.change == "regressed" or (change.suite, change.key) in blocking
    )


def _unchanged(report: RunReport, comparison: Comparison) -> Iterator[CaseReport]:
    changed = {(change.suite, change.key) for change in comparison.changes if change.head is not None}
    return (case for case in report.cases if (case.suite, case.key) not in changed)


def _fingerprint(case: CaseReport | None, target: ModelIdentity, absent: str) -> str:
    """A hash of the question and the target that answered: an acceptance ends when either changes."""
    return absent if case is None else fingerprint([case.content, target.type, target.model, target.prompt_hash])


def without_accepted(
    report: RunReport, comparison: Comparison, losses: Sequence[AcceptedLoss], rule: RegressionRule
) -> tuple[RunReport, Comparison | None]:
    """The run without its accepted losses, and what it says against the base; None if no other case is shared."""
    from runevals.verdict.settle import Look  # only what was accepted needs it

    accepted = {(loss.suite, loss.case) for loss in losses if loss.head != REMOVED}
    removed = {(loss.suite, loss.case) for loss in losses if loss.head == REMOVED}
    changed = (change for change in comparison.changes if change.head and (change.suite, change.key) in accepted)
    out = [*filter(None, (change.base for change in changed))]
    same = accepted.intersection((case.suite, case.key) for case in _unchanged(report, comparison))
    on_base = removed | same | {(case.suite, case.key) for case in out}
    head, base = _without(report, accepted), _without(comparison.base, on_base)
    sides = Sides.of(head, base)
    rest = [each for each in comparison.cases(*State) if (each.head or each.edited) and each.key not in accepted]
    if not any((sides.pairs, rest, *map(is_critical, sides.matched.removed))):
        return head, None
    not_run = {each.key for each in rest if each.reason is Reason.OLD_FORM}
    deterministic = comparison.deterministic
    unrun = {pair.key for pair in sides.pairs} - {each.key for each in rest}
    fresh = FreshEvidence(
        cases=(*rest, *stored_findings(sides.pairs, rule, deterministic=deterministic, only=unrun)),
        parts=tuple(_parts_left(comparison, out, Look.at(sides, rule).places)),
        gained=comparison.improved,
        old_forms=frozenset(pair.key for pair in sides.edited) - not_run,
        determinism_violated=both_deterministic(report, comparison.base) and not deterministic,
    )
    return head, replace(compare_sides(sides, comparison.source, rule, fresh), weakenings=comparison.weakenings)


def _parts_left(comparison: Comparison, out: Sequence[CaseReport], lost: Collection[Place]) -> Iterator[Finding]:
    """What was found of the whole and its parts and holds without the cases that are left `out`.

    If fresh rounds, which had them too, prove a loss of what still looks lost without them, it is not known.
    """
    for part in comparison.parts(*State):
        if part.reason in _HOLDS[any(is_in(case, part) for case in out)]:
            yield part
        elif part.reason in _OF_FRESH and (part.family, part.name) in lost:
            yield replace(part, state=State.NOT_KNOWN, reason=Reason.CHANCE, detail=BESIDE_ACCEPTED)


def without_weakenings(comparison: Comparison, losses: Sequence[AcceptedLoss]) -> Comparison:
    """The comparison without the weakenings of cases whose loss is accepted."""
    keys = {(loss.suite, loss.case) for loss in losses}
    weakenings = (one for one in comparison.weakenings if (one.suite, one.key) not in keys)
    return replace(comparison, weakenings=tuple(weakenings))


def _without(report: RunReport, keys: Collection[Key]) -> RunReport:
    return replace(report, cases=tuple(case for case in report.cases if (case.suite, case.key) not in keys))


def acceptance_headline(acceptance: Acceptance, comparison: Comparison) -> str:
    """ "3 regressed, accepted by @ana: shorter answers are wanted"."""
    kinds = {(change.suite, change.key): change.change for change in comparison.changes}
    names = {"regressed": "regressed", "worse": "regressed", "edited": "edited"}
    words = Counter(
        "removed" if loss.head == REMOVED else names.get(kinds.get((loss.suite, loss.case), ""), "failing")
        for loss in acceptance.losses
    )
    counts = [f"{words[word]} {word}" for word in ("regressed", "edited", "failing", "removed") if words[word]]
    reasons = "; ".join(dict.fromkeys(one_line(loss.reason) for loss in acceptance.losses))
    return f"{', '.join(counts)}, accepted by @{acceptance.by}: {one_line(reasons, LONGEST_REASONS)}"
