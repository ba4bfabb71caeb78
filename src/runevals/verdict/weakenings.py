"""Weakenings: what a change to the suite no longer checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import attrgetter

from runevals.lib.text.numbers import phrase
from runevals.records import AttemptReport, CaseReport, CheckResult, Outcome, RunReport, Weakening
from runevals.records.report import is_critical
from runevals.verdict.comparability import other_target
from runevals.verdict.matching import MatchedRuns, Pair, turns_of

_LABELS = ("file", "suite", "category")
_groups = attrgetter(*_LABELS)
_place = attrgetter("suite", "key", "category", "tags", "critical")  # of a case, with its labels


def weakenings(head: RunReport, base: RunReport, matched: MatchedRuns) -> Iterator[Weakening]:
    """What the head's run no longer checks of the base's."""
    if changed := other_target(head, base):
        yield Weakening(suite="", key="target", message=changed)
    absent = {name: label for group in absent_groups(base, matched) for name, label in group.items()}
    for case in () if head.run.stopped else matched.removed:  # a tool may not have reached them
        whole = next(filter(None, map(absent.get, _groups(case))), "")
        message = f"the case was removed{phrase(whole, ', as all of {}: is a results file missing?')}"
        yield Weakening(suite=case.suite, key=case.key, message=message)
    for pair in matched.both:
        for message in _of_pair(pair):
            yield Weakening(suite=pair.head.suite, key=pair.head.key, message=message)


def absent_groups(base: RunReport, matched: MatchedRuns) -> Iterator[dict[str, str]]:
    """Files, suites and categories of another tool, with labels, of which the base has cases and the head none."""
    removed = matched.removed if base.run.of_tool and matched.both else ()  # mostly none: nothing is looked at
    for label, of_base in zip(_LABELS, zip(*map(_groups, removed), strict=True), strict=False):
        of_both = {getattr(pair.base, label) for pair in matched.both}
        yield {name: "/".join(name.split("/")[-2:]) for name in sorted({*of_base} - of_both - {None})}


def _of_pair(pair: Pair) -> Iterator[str]:
    if pair.before.due and not pair.now.due:
        yield "it was measured on the base, and is skipped now"
    if not (pair.same_content and _place(pair.base) == _place(pair.head) and pair.same_checks):  # rarely
        yield from _weaker_parts(pair)


def _weaker_parts(pair: Pair) -> Iterator[str]:
    base, head = pair.base, pair.head
    weaker = list(_weaker_checks(pair))
    yield from weaker
    if not pair.same_content and (edited := _edited(base, head)) and not (weaker and edited in _OTHER_EDITS):
        yield edited
    category, now, moved = base.category, head.category, pair.base_key != pair.key
    others = {
        f"a critical case, was moved from {base.key} in {base.suite}": moved and is_critical(base),
        f"moved from category {category} to {now or 'none'}": category not in (None, now),
        **{f"lost the tag {tag}": tag not in head.tags for tag in base.tags},
        "is no longer marked as critical": base.critical > head.critical,
    }
    yield from (message for message, holds in others.items() if holds)


_CHECKS, _CHECKS_OR_WORKSPACE = _OTHER_EDITS = (
    "its checks or other fields were edited",
    "its checks or its workspace were edited",
)


def _edited(base: CaseReport, head: CaseReport) -> str:
    """Which parts of a case were edited. Reports do not show whether a check's new options ask for less,
    and have no fingerprint of a workspace."""
    before, now = turns_of(base), turns_of(head)
    if len(before) != len(now) and _is_whole_conversation(base) and _is_whole_conversation(head):
        return "a turn was added or removed"
    if [turn.expected for turn in before] != [turn.expected for turn in now]:
        return "its expected text was edited"
    if [(turn.prompt, turn.context) for turn in before] != [(turn.prompt, turn.context) for turn in now]:
        return "its prompt was edited"
    has_workspace = any(turn.workspace is not None for turn in (*before, *now))
    return _CHECKS_OR_WORKSPACE if has_workspace else _CHECKS


def _is_whole_conversation(case: CaseReport) -> bool:
    """Whether all of its turns were asked: after an error, no further one is."""
    return bool(case.attempts) and case.attempts[0].status.measured


def _weaker_checks(pair: Pair) -> Iterator[str]:
    """The checks that ask for less; a case without an answer may not say which checks it has."""
    after = _checks(pair.head)
    if not after and pair.head.status is Outcome.ERRORED:
        return
    was_due = bool(pair.now.runs) and pair.head.status is not Outcome.ERRORED
    before = _checks(pair.base).items()
    yield from filter(None, (_weaker(one, after.get(place), was_due=was_due) for place, one in before))


def _weaker(before: CheckResult, after: CheckResult | None, *, was_due: bool) -> str | None:
    """`was_due`: the case was measured; what else it ended with says why its checks are skipped."""
    if after is None:
        return f"the check {before.id} was removed"
    if before.outcome.measured and after.outcome is Outcome.SKIPPED:
        return f"{before.id} was measured on the base, and is skipped now" if was_due else None
    if after.negated and not before.negated:
        return f"{before.id} was inverted by `not`"
    if before.threshold is not None and after.threshold is not None and after.threshold < before.threshold:
        return f"the threshold of {before.id} was lowered from {before.threshold:g} to {after.threshold:g}"
    if after.weight < before.weight:
        return f"the weight of {before.id} was cut from {before.weight:g} to {after.weight:g}"
    return None


def missing_scores(pair: Pair) -> frozenset[tuple[int, str]]:
    """What half of the base's runs have, if half of the runs that pass now, or more, lack one of these."""
    passing = [attempt for attempt in pair.head.attempts if attempt.status is Outcome.PASSED]
    results = (result for attempt in passing for turn in attempt.turns for result in turn.results)
    if pair.same_checks and all(result.outcome.measured for result in results):
        return frozenset()  # nearly always
    scored = [_scored(attempt) for attempt in pair.base.attempts if attempt.status.measured]
    counts = Counter(check for checks in scored for check in checks)
    needed = frozenset(check for check, count in counts.items() if 2 * count >= len(scored))
    missing = [*filter(None, (needed - _scored(attempt) for attempt in passing))]
    return frozenset().union(*missing if 2 * len(missing) >= max(1, len(passing)) else ())


def _scored(attempt: AttemptReport) -> frozenset[tuple[int, str]]:
    """The checks that were measured: the number of the turn, and the id."""
    return frozenset(
        (number, result.id)
        for number, turn in enumerate(attempt.turns)
        for result in turn.results
        if result.outcome.measured
    )


def _checks(case: CaseReport) -> dict[tuple[int, str], CheckResult]:
    return {(number, result.id): result for number, turn in enumerate(turns_of(case)) for result in turn.results}
