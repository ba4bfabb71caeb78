"""What a change to suite and target makes a run blind to."""

from __future__ import annotations

from collections.abc import Iterator

from runevals.records import CaseReport, CheckResult, RunReport, Weakening
from runevals.verdict.comparability import other_target
from runevals.verdict.matching import MatchedRuns, Pair
from runevals.verdict.suspects import is_critical_case


def weakenings(head: RunReport, base: RunReport, matched: MatchedRuns) -> Iterator[Weakening]:
    """What the head's run no longer sees of the base's."""
    if changed := other_target(head, base):
        yield Weakening(suite="", key="target", message=changed)
    for case in matched.removed:
        yield Weakening(suite=case.suite, key=case.key, message="the case was removed")
    for pair in matched.both:
        for message in _weaker_parts(pair):
            yield Weakening(suite=pair.head.suite, key=pair.head.key, message=message)


def _weaker_parts(pair: Pair) -> Iterator[str]:
    base, head = pair.base, pair.head
    weaker = list(_weaker_checks(pair))
    yield from weaker
    if not pair.same_content and (edited := _edited(base, head)) and not (weaker and edited == _CHECKS):
        yield edited
    if is_critical_case(base) and (base.suite, base.key) != (head.suite, head.key):
        yield f"a critical case, was moved from {base.key} in {base.suite}"
    if base.category is not None and base.category != head.category:
        yield f"moved from category {base.category} to {head.category or 'none'}"
    for tag in base.tags:
        if tag not in head.tags:
            yield f"lost the tag {tag}"
    if base.critical and not head.critical:
        yield "is no longer marked as critical"


_CHECKS = "its checks were edited"


def _edited(base: CaseReport, head: CaseReport) -> str:
    """What of a case was edited. Of options of checks, reports do not say whether they ask for less."""
    before, now = (case.attempts[0].turns if case.attempts else () for case in (base, head))
    if [turn.expected for turn in before] != [turn.expected for turn in now]:
        return "its expected text was edited"
    if [(turn.prompt, turn.context) for turn in before] != [(turn.prompt, turn.context) for turn in now]:
        return "its prompt was edited"
    return _CHECKS


def _weaker_checks(pair: Pair) -> Iterator[str]:
    after = _checks(pair.head)
    for place, before in _checks(pair.base).items():
        message = _weaker(before, after.get(place))
        if message is not None:
            yield message


def _weaker(before: CheckResult, after: CheckResult | None) -> str | None:
    if after is None:
        return f"the check {before.id} was removed"
    if after.negated and not before.negated:
        return f"{before.id} was inverted by `not`"
    if before.threshold is not None and after.threshold is not None and after.threshold < before.threshold:
        return f"the threshold of {before.id} was lowered from {before.threshold:g} to {after.threshold:g}"
    if after.weight < before.weight:
        return f"the weight of {before.id} was cut from {before.weight:g} to {after.weight:g}"
    return None


def _checks(case: CaseReport) -> dict[tuple[int, str], CheckResult]:
    if not case.attempts:
        return {}
    return {
        (number, result.id): result
        for number, turn in enumerate(case.attempts[0].turns)
        for result in turn.results
    }
