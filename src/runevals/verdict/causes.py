"""Cases in groups by what they have in common and by how they failed: causes before cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from operator import attrgetter

from msgspec import Struct

from runevals.lib.nullable import grouped, if_known, without_none
from runevals.records import (
    CaseName,
    CaseReport,
    CauseGroup,
    CauseKind,
    CauseRow,
    Causes,
    Change,
    CheckResult,
    Comparison,
    Finding,
    Layer,
    Outcome,
    Reason,
    RunReport,
    State,
)
from runevals.records.suite import called
from runevals.verdict.lost_together import CLEARED, lost_keys
from runevals.verdict.matching import Key, turns_of
from runevals.verdict.wording import answer_pair, because, first_error, first_failure

MOST_GROUPS, MOST_ROWS, MOST_EXAMPLES, MOST_NAMED = 5, 3, 2, 5
SHARE, FEWEST = 0.8, 3  # of the cases of a label, from which on the label explains them
KINDS: tuple[CauseKind, ...] = ("lost", "not_known", "unproven", "unmeasured", "new", "failing", "better")
IN_DOUBT: tuple[CauseKind, ...] = ("lost", "not_known", "unproven")  # cases that passed on the base and fail now
_LABELS = ("category", "group", "tag", "label", "suite")  # the first explains, if two explain the same cases
_VALUE = re.compile(r"\"[^\"]*\"|'[^']*'|‘[^’]*’|“[^”]*”|`[^`]*`|\d[\d.,:]*")
_OF_BOTH: frozenset[CauseKind] = frozenset({"lost", "not_known", "unproven", "better"})  # of both sides
_NOT_COMPARED = frozenset({"added", "edited", "unmeasured", "quarantined"})
_BY_CHANCE = Finding(family="case", state=State.NOT_WORSE, reason=Reason.BY_CHANCE)
LOWER = "passes, with a lower score"
Label = tuple[str, str]  # its kind, and its value


class _Case(Struct, frozen=True):
    """A case to group, and how it failed."""

    place: int
    case: CaseReport
    change: Change | None
    check: str = ""
    reason: str = ""
    pattern: str = ""  # the reason without the case's own values

    @property
    def clearness(self) -> tuple[bool, int, int]:
        """Sorts those first whose answers differ and are short."""
        answers = if_known(answer_pair, self.change) or ("", "")
        return answers[0] == answers[1], sum(map(len, answers)), self.place


class _Tally(Struct):
    """The cases of a label."""

    measured: int = 0
    base_passed: int = 0
    head_passed: int = 0


def causes(report: RunReport, comparison: Comparison | None) -> tuple[Causes, ...]:
    """Every kind of cases that a reader should look at, the most important kind first."""
    changed = () if comparison is None else comparison.changes
    return causes_by_kind(report, {(each.suite, each.key): each for each in changed}, _Kinds(comparison))


def causes_by_kind(
    report: RunReport,
    changes: Mapping[Key, Change],
    kind_of: Callable[[CaseReport, Change | None], Iterable[CauseKind]],
) -> tuple[Causes, ...]:
    """The cases of each kind in groups; `kind_of` says what a case and its change are shown as."""
    of_cases = [(place, case, changes.get((case.suite, case.key))) for place, case in enumerate(report.cases)]
    cases = grouped(
        (kind, _case(kind, place, case, change))
        for place, case, change in of_cases
        for kind in kind_of(case, change)
    )
    both_or_one = {
        of_both: _tallies(report.cases, changes, compared=of_both)
        for of_both in {kind in _OF_BOTH for kind in cases}
    }
    tallies = {kind: both_or_one[kind in _OF_BOTH] for kind in cases}
    if len(cases.get("unmeasured", ())) >= max(1, SHARE * len(report.cases)):  # they share the run, no label
        tallies["unmeasured"] = {None: tallies["unmeasured"][None]}
    return tuple(
        Causes(
            kind=kind,
            cases=len(cases[kind]),
            groups=tuple(_groups(cases[kind], tallies[kind], of_both=kind in _OF_BOTH)),
        )
        for kind in KINDS
        if kind in cases
    )


class _Kinds:
    """What a case is shown as; None: nothing."""

    def __init__(self, comparison: Comparison | None) -> None:
        self._findings: Mapping[Key, Finding] = {}
        self._lost: Set[Key] = frozenset()
        self._compared = comparison is not None
        if comparison is not None:
            self._findings = {each.key: each for each in comparison.cases(*State)}
            self._lost = lost_keys(comparison)

    def __call__(self, case: CaseReport, change: Change | None) -> Iterator[CauseKind]:
        key, kind = (case.suite, case.key), if_known(attrgetter("change"), change)
        if case.unmeasured:
            yield "unmeasured"
        if key in self._lost:
            yield "lost"
        elif case.leaks:
            yield self._failure(case, change)
        elif kind == "regressed":
            finding = self._findings.get(key, _BY_CHANCE)
            if finding.reason not in CLEARED:  # its fresh runs show no loss
                yield "not_known" if finding.state is State.NOT_KNOWN else "unproven"
        elif kind == "fixed":
            yield "better"
        elif case.status is Outcome.FAILED and not case.quarantined:
            yield self._failure(case, change)

    def _failure(self, case: CaseReport, change: Change | None) -> CauseKind:
        """Whether the base fails it, too: what has not changed is in no list of changes."""
        before = case if change is None else change.base
        fails = before is not None and (before.status is Outcome.FAILED or before.leaks)
        return "failing" if fails or not self._compared else "new"


def _case(kind: CauseKind, place: int, case: CaseReport, change: Change | None) -> _Case:
    """The case with its first failure, or with why it could not be measured."""
    if kind == "better":
        return _Case(place, case, change)
    if kind == "unmeasured":
        error = first_error(case) or ""
        return _Case(place, case, change, "", error, _VALUE.sub("…", error))
    failure = first_failure(case)
    if failure is None:
        return _Case(place, case, change, "", LOWER, LOWER)
    turn, result = failure
    reason = because(result) + _fall(result, if_known(attrgetter("base"), change))
    # A reason names the case's own values after a colon; that of a judge is about this answer only.
    general = "" if result.layer is Layer.JUDGE else reason.replace(turn.expected or "\0", "…").partition(": ")[0]
    return _Case(place, case, change, result.evaluator, reason, _VALUE.sub("…", general))


def _fall(result: CheckResult, base: CaseReport | None) -> str:
    """ "; accuracy 9 → 3": the dimension of a judge's score that fell most from the base's first run."""
    turns = () if base is None else turns_of(base)
    before = next((_dimensions(each) for turn in turns for each in turn.results if each.id == result.id), {})
    falls = [(now - before[name], name, now) for name, now in _dimensions(result).items() if name in before]
    change, name, now = min(falls, default=(0.0, "", 0.0))
    return f"; {name} {before[name]:g} → {now:g}" if change < 0 else ""


def _dimensions(result: CheckResult) -> Mapping[str, float]:
    """The scores of the dimensions, which another tool may have written."""
    scores = result.details.get("dimensions")
    known = scores.items() if isinstance(scores, Mapping) else ()
    return {str(name): score for name, score in known if isinstance(score, int | float)}


def labels(case: CaseReport) -> Iterator[Label]:
    """What a case has in common with others."""
    yield from without_none(category=case.category, group=case.group).items()
    yield from (("tag", tag) for tag in case.tags)
    yield from (("label", f"{name} {value}") for name, values in case.labels.items() for value in values)
    yield "suite", case.suite


def _tallies(
    cases: Iterable[CaseReport], changes: Mapping[Key, Change], *, compared: bool
) -> Mapping[Label | None, _Tally]:
    """How many cases each label, and all (None), have; with `compared`, of those that both sides measured."""
    tallies: dict[Label | None, _Tally] = {}
    for case in cases:
        change = changes.get((case.suite, case.key))
        if compared and (case.pass_rate is None or (change is not None and change.change in _NOT_COMPARED)):
            continue
        before = if_known(attrgetter("base"), change) or case
        for label in (None, *dict.fromkeys(labels(case))):
            tally = tallies.setdefault(label, _Tally())
            tally.measured += 1
            tally.base_passed += before.status is Outcome.PASSED
            tally.head_passed += case.status is Outcome.PASSED
    return tallies


def _groups(
    cases: Sequence[_Case], tallies: Mapping[Label | None, _Tally], *, of_both: bool
) -> Iterator[CauseGroup]:
    """The labels that explain most of the cases, then the other cases."""
    rest = {each.place: each for each in cases}
    explained: list[tuple[Label, list[_Case]]] = []
    while len(explained) < MOST_GROUPS and (label := _best_label(rest.values(), cases, tallies)) is not None:
        explained.append((label, [each for each in rest.values() if label in labels(each.case)]))
        for each in explained[-1][1]:
            del rest[each.place]
    if rest and len(explained) == MOST_GROUPS:
        rest |= {each.place: each for each in explained.pop()[1]}
    others = [rest[place] for place in sorted(rest)]
    for some, group in (*explained, *([(None, others)] if others else [])):
        tally = tallies.get(some, _Tally())
        (of, name), (rows, more) = some or ("", ""), _rows(group)
        yield CauseGroup(
            label=of,
            name=name,
            cases=len(group),
            measured=tally.measured,
            base_passed=tally.base_passed if of_both else None,
            head_passed=tally.head_passed,
            rows=rows,
            more=more,
        )


def _best_label(
    rest: Iterable[_Case], cases: Sequence[_Case], tallies: Mapping[Label | None, _Tally]
) -> Label | None:
    """The narrowest label that explains most of the rest; None if no label explains any."""
    in_all, in_rest = (
        Counter(label for each in some for label in dict.fromkeys(labels(each.case))) for some in (cases, rest)
    )
    every = tallies.get(None, _Tally()).measured
    fitting = [
        label
        for label, number in in_rest.items()
        if number >= FEWEST
        and label in tallies
        and in_all[label] >= SHARE * tallies[label].measured
        and (label[0] != "suite" or tallies[label].measured < every)  # the only suite explains nothing
    ]
    return min(
        fitting,
        key=lambda label: (-in_rest[label], tallies[label].measured, _LABELS.index(label[0])),
        default=None,
    )


def _rows(group: Sequence[_Case]) -> tuple[tuple[CauseRow, ...], tuple[CaseName, ...]]:
    """The most frequent ways to fail, and the first cases that failed in others."""
    ways = grouped(((each.check, each.pattern), each) for each in group)
    ranked = sorted(ways.values(), key=lambda some: -len(some))
    left_out = [each for some in ranked[MOST_ROWS:] for each in some]
    return tuple(map(_row, ranked[:MOST_ROWS])), tuple(map(_name, left_out[:MOST_NAMED]))


def _row(some: Sequence[_Case]) -> CauseRow:
    """The most frequent reason, with the clearest cases that have it before the others."""
    reasons = Counter(each.reason for each in some)
    ((reason, _),) = reasons.most_common(1)
    clearest = sorted(some, key=lambda each: (each.reason != reason, each.clearness))[:MOST_NAMED]
    text = f"{reason}, …" if len(reasons) > 1 and some[0].pattern else reason
    return CauseRow(check=some[0].check, reason=text, cases=len(some), examples=tuple(map(_name, clearest)))


def _name(each: _Case) -> CaseName:
    return CaseName(suite=each.case.suite, key=each.case.key, called=called(each.case.key, each.case.name))
