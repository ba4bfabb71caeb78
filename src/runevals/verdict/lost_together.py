"""The cases that are lost: proven by themselves, or together with a part that is proven worse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set
from operator import attrgetter
from statistics import fmean

from runevals.records import CaseReport, Comparison, Conclusion, Finding, GateState, Reason, State
from runevals.records.rules import CATEGORY_GATES
from runevals.verdict.matching import Key, Pair

CLEARED = frozenset({Reason.PASSED_AGAIN, Reason.BASE_ALIKE})  # by fresh runs
_KEY = attrgetter("suite", "key")
PROVEN_BEFORE = "the run ended with another loss before it was settled"  # it is, once that loss is accepted
LEAST_PART = 0.5  # of the fall of a score: what fell less is as much by chance


def lost_keys(comparison: Comparison) -> frozenset[Key]:
    """Suite and key of each lost case: one that is proven lost in a form that both sides have, or its part."""
    proven = {each.key for each in comparison.cases(State.WORSE) if not each.edited}
    proven.update(map(_KEY, comparison.lost_cases))
    return frozenset(proven.union(_lost_together(comparison, proven)))


def cleared_keys(comparison: Comparison) -> frozenset[Key]:
    """Suite and key of each case that looked lost, and is not in fresh runs."""
    return frozenset(each.key for each in comparison.cases(*State) if each.reason in CLEARED)


def blocking_losses(conclusion: Conclusion) -> frozenset[Key]:
    """Suite and key of each case that blocks.

    It is lost, weaker, or failed and is not known to be no loss; or a preset gate on its category counts it.
    """
    comparison, failed = conclusion.comparison, {one for one in conclusion.gates if one.state is GateState.FAILED}
    of_gates = {each.name for each in failed} & dict(CATEGORY_GATES).keys()
    keys = {(one.suite, one.key) for one in conclusion.report.cases if one.category in of_gates and one.any_failed}
    if comparison is None:
        return frozenset(keys)
    unlost, open_ = {Reason.ERRORS, PROVEN_BEFORE}, comparison.cases(State.WORSE, State.NOT_KNOWN)
    keys |= {one.key for one in open_ if unlost.isdisjoint((one.reason, one.detail))}
    keys |= {each.key for each in comparison.cases(State.NOT_WORSE) if each.reason is Reason.NEW_FORM}
    too_few = Reason.INCOMPARABLE in {each.reason for each in comparison.findings}  # by what was removed, too
    gone = comparison.of_kind("removed") if too_few else ()
    # Another tool's cases are not run in their old form, nor with the check that they lack now.
    is_strict = "weakening" in {each.metric for each in failed} or (too_few and conclusion.report.run.of_tool)
    weaker = comparison.weakenings if is_strict else gone
    weak = {*map(_KEY, weaker)}.intersection(map(_KEY, (*conclusion.report.cases, *comparison.base.cases)))
    return lost_keys(comparison).union(keys, weak)  # what is weaker may be a setting, and no case


def to_accept(conclusion: Conclusion) -> frozenset[Key]:
    """What blocks and nobody has accepted; if that is all, also what is gone from the results of a tool.

    Those of a run that ended early lack what it did not reach.
    """
    acceptance, comparison = conclusion.acceptance, conclusion.comparison
    accepted = (*conclusion.waiting, *(acceptance.losses if acceptance else ()))
    left = blocking_losses(conclusion).difference((loss.suite, loss.case) for loss in accepted)
    gone = comparison.of_kind("removed") if comparison and conclusion.report.run.of_tool else ()
    return left.difference(map(_KEY, gone)) or left


def _lost_together(comparison: Comparison, proven: Set[Key]) -> Iterator[Key]:
    """What failed, or whose score fell, in the whole or a part that is worse by more than its proven cases.

    And by more than the worse parts within it, which have their own cases; also if fresh runs cleared each alone.
    """
    parts = [(part, dict(_drops(comparison, part))) for part in comparison.parts(State.WORSE)]
    for part, drops in parts:
        of_proven = [drops[key] for key in drops.keys() & proven]
        explained = defaultdict[str, float](float, proven=sum(of_proven))
        for inner, inside in parts:
            if inner.metric == part.metric and inner.cases < part.cases and inside.keys() <= drops.keys():
                explained[inner.family] += inner.drop * inner.cases
        of_others = part.drop * part.cases - max(explained.values())
        if of_others >= LEAST_PART * part.drop * (part.cases - len(of_proven)):
            yield from (key for key in drops if drops[key] >= LEAST_PART * part.drop)


def _drops(comparison: Comparison, part: Finding) -> Iterator[tuple[Key, float]]:
    """What each case of a part that failed, or whose score fell, lost of the part's metric."""
    scored = part.metric == "share"
    for change in comparison.of_kind("regressed", "worse"):
        base, head = change.base, change.head
        if base is not None and head is not None and is_in(head, part):
            pair = Pair.of(base, head)
            before, now = (fmean(side.values if scored else side.outcomes) for side in (pair.before, pair.now))
            yield (change.suite, change.key), before - now


def is_in(case: CaseReport, part: Finding) -> bool:
    own = {"whole": "", "suite": case.suite, "category": case.category, "group": case.group}
    return own[part.family] == part.name
