"""Which cases are on both sides, and how each changed."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from statistics import fmean
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import grouped, known, mean, without
from runevals.lib.record_from import record_from
from runevals.records import (
    AttemptReport,
    CaseReport,
    Change,
    ChangeKind,
    ChangeLabel,
    CheckResult,
    Layer,
    Outcome,
    TurnReport,
)
from runevals.records.report import is_critical
from runevals.records.suite import KEY_OF_PROMPTS, one_line
from runevals.verdict.score import VALUE_OF

SIMILAR = 0.6  # the least ratio of an edited prompt to the one before
MOST_COMPARED = 40_000  # pairs of prompts
LONGEST_COMPARED = 2000  # characters of a prompt
_PASSED, _FAILED = Outcome.PASSED, Outcome.FAILED  # a look-up in an enumeration has its price


class Side(Struct):
    """What one side measured of a case: its values, how many of its measured runs passed, how many were due."""

    values: tuple[float, ...]
    passes: int
    runs: int
    due: int  # all but skipped ones; those that a stopped run left out were due
    scored: bool  # a value says more than whether the run passed

    @classmethod
    def of(cls, case: CaseReport) -> Side:
        """Reads a case's attempts once; comparing asks for them often."""
        passes = failed = 0
        scored = False
        values = []
        attempts = case.runs
        for attempt in attempts:
            if (status := attempt.status) is _PASSED:
                passes += 1
                outcome = 1.0
            elif status is _FAILED:
                failed += 1
                outcome = 0.0
            else:
                continue
            value = attempt.value
            if value is not None:
                values.append(value)
                scored = scored or value != outcome
        runs = passes + failed
        due = runs if runs == len(attempts) else sum(map(is_due, attempts))
        if scored or due != len(values):
            return cls(tuple(values), passes, runs, due, scored)
        return _unscored(tuple(values), passes)  # most cases have the same few

    @property
    def complete(self) -> bool:
        """Whether every run that was due has a value."""
        return len(self.values) >= self.due

    @property
    def unscored(self) -> Side:
        """It without scores."""
        return replace(self, values=self.outcomes, scored=False) if self.scored else self

    def without(self, checks: Container[str], case: CaseReport) -> Side:
        """It with the mean of the others as the value of each of the case's runs."""
        runs = [
            [share_of(result) for turn in run.turns for result in turn.results if result.id not in checks]
            for run in case.runs
            if run.value is not None
        ]
        return replace(self, values=tuple(known(map(mean, runs))))

    def completed(self, outcome: int) -> Side:
        """It if every run that has no value had failed (0) or passed (1)."""
        values = (*self.values, *(float(outcome) for _ in range(self.due - len(self.values))))
        return replace(self, values=values, passes=self.passes + outcome * (self.due - self.runs), runs=self.due)

    @property
    def outcomes(self) -> tuple[float, ...]:
        """A number for each run that was measured, in order: 0.0 failed, 1.0 passed."""
        return outcomes(self.passes, self.runs)


def share_of(result: CheckResult) -> float | None:
    """The value 0–1 of a check: its score if it has one, else whether it passed; None if it was not measured."""
    return VALUE_OF.get(result.outcome) if result.score is None else result.score


def is_judged(result: CheckResult) -> bool:
    """Whether a model had a part in it, which varies whatever the target does."""
    return result.layer is Layer.JUDGE or result.judge_model is not None


def _is_graded(case: CaseReport) -> bool:
    return any(run.graded for run in case.runs[:1])


def _says_only_that_it_passed(case: CaseReport, scored: CaseReport) -> bool:
    """Whether a check has a score on the other side, and only a pass here: the two cannot be compared."""
    names = {result.id for result in _results(scored) if result.score not in (None, 0.0, 1.0)}
    return any(
        result.id in names
        and result.passed
        and result.scale == (0.0, 1.0)
        and (result.value is None or not 0.0 <= result.value <= 1.0)
        for result in _results(case)
    )


def _results(case: CaseReport) -> Iterator[CheckResult]:
    return (result for attempt in case.runs for turn in attempt.turns for result in turn.results)


@lru_cache(1024)
def _unscored(values: tuple[float, ...], passes: int) -> Side:
    """A side of which every run was measured, each of them 0 or 1."""
    return Side(values, passes, len(values), len(values), scored=False)


def outcomes(passes: int, runs: int) -> tuple[float, ...]:
    """A number of runs as values, in order: 0.0 failed, 1.0 passed."""
    return (0.0,) * (runs - passes) + (1.0,) * passes


def was_due(case: CaseReport) -> bool:
    """Whether any of its runs should have a value."""
    return any(map(is_due, case.attempts))


def is_due(attempt: AttemptReport) -> bool:
    return attempt.status is not Outcome.SKIPPED or attempt.cut_short


Key = tuple[str, str]  # suite and key


class Pair(Struct):
    """One case on both sides."""

    base: CaseReport
    head: CaseReport
    before: Side
    now: Side
    same_content: bool  # both sides ran the same prompts and checks
    measured: bool  # there is something to compare on both sides
    regressed: bool  # passed on base, fails on head
    fixed: bool  # failed on base, passes on head
    same_checks: bool  # nothing differs that could make a check weaker

    @classmethod
    def of(cls, base: CaseReport, head: CaseReport) -> Pair:
        """Both sides, with what is used several times computed once."""
        before, now = Side.of(base), Side.of(head)
        if (
            _is_graded(base) != _is_graded(head)
            and before.scored != now.scored
            and _says_only_that_it_passed(*((head, base) if before.scored else (base, head)))
        ):
            before, now = before.unscored, now.unscored
        elif before.scored or now.scored:  # the mean of what one side alone has says nothing of a change
            names = [{result.id for result in _results(case)} for case in (base, head)]
            if others := names[0] ^ names[1]:
                before, now = before.without(others, base), now.without(others, head)
        was, status = base.status, head.status
        return cls(
            base,
            head,
            before,
            now,
            same_content=_same_content(base, head),
            measured=bool(before.values and now.values),
            regressed=was is _PASSED and status is _FAILED,
            fixed=was is _FAILED and status is _PASSED,
            same_checks=_same_checks(base, head),
        )

    @property
    def critical(self) -> bool:
        """Whether it is critical on either side."""
        return is_critical(self.base) or is_critical(self.head)

    @property
    def scored(self) -> bool:
        """Whether a value of a side says more than whether the run passed."""
        return self.before.scored or self.now.scored

    @property
    def graded(self) -> bool:
        """Whether a judge or a grader scored it on either side."""
        return _is_graded(self.base) or _is_graded(self.head)

    @property
    def judged(self) -> bool:
        """Whether a model had a part in a check of it on either side."""
        return any(is_judged(result) for case in (self.base, self.head) for result in _results(case))

    @property
    def unchanged(self) -> bool:
        """Whether nothing of it can be lost: every run passes now, and there is no score."""
        return self.now.passes == self.now.due > 0 and not self.scored and bool(self.before.runs)

    @property
    def key(self) -> Key:
        """The case's key on the head."""
        return self.head.suite, self.head.key

    @property
    def base_key(self) -> Key:
        """The case's key on the base."""
        return self.base.suite, self.base.key

    @property
    def renamed(self) -> bool:
        """Whether the base has it under another key."""
        return self.base.key != self.head.key

    @property
    def complete(self) -> bool:
        """Whether every run that was due has a value."""
        return self.before.complete and self.now.complete

    def completed(self, on_base: int, on_head: int) -> Pair:
        """It if every run that could not be measured had this outcome, 0 or 1."""
        return replace(self, before=self.before.completed(on_base), now=self.now.completed(on_head))

    @property
    def dead(self) -> bool:
        """Whether it passed on the base and in no run now, or in every run there and fails now."""
        never_now = self.before.passes > 0 == self.now.passes < self.now.runs
        return never_now or (self.regressed and not self.base.flaky)


class MatchedRuns(Struct, frozen=True, kw_only=True):
    """The cases of two runs, side by side."""

    both: list[Pair]
    added: list[CaseReport]
    removed: list[CaseReport]


Cases = Mapping[Key, CaseReport]


def match(base: Sequence[CaseReport], head: Sequence[CaseReport]) -> MatchedRuns:
    """Matches cases by suite and key; if each side has one suite, by key alone, so that a file may move.

    A case whose content is not found under its key is matched by its content: it was renamed. One whose key is
    made of its prompts is matched by similar prompts: it was edited.
    """
    one_suite = len({case.suite for case in base}) == len({case.suite for case in head}) == 1
    of_base = {_key(case, by_suite=not one_suite): case for case in base}
    of_head = {_key(case, by_suite=not one_suite): case for case in head}
    partners = _partners(of_base, of_head)
    both = [_pair(of_base[partners[key]], case) for key, case in of_head.items() if key in partners]
    known = set(partners.values())
    return MatchedRuns(
        both=both,
        added=[case for key, case in of_head.items() if key not in partners],
        removed=[case for key, case in of_base.items() if key not in known],
    )


def _key(case: CaseReport, *, by_suite: bool) -> Key:
    return (case.suite if by_suite else "", case.key)


def _partners(base: Cases, head: Cases) -> dict[Key, Key]:
    """The keys of the head's cases → those of the same cases on the base."""
    partners = {
        key: key for key, case in head.items() if (of_base := base.get(key)) and _same_content(of_base, case)
    }
    if len(partners) == len(base) == len(head):
        return partners
    for find in (
        partial(_renamed, label=lambda case: (case.suite, case.content)),
        partial(_renamed, label=lambda case: case.content),
        lambda before, now: {key: key for key in before.keys() & now.keys()},  # edited
        _edited_prompts,
    ):
        partners |= find(without(base, set(partners.values())), without(head, partners))
    return partners | _edited_elsewhere(partners, base, head)


def _edited_elsewhere(partners: Mapping[Key, Key], base: Cases, head: Cases) -> dict[Key, Key]:
    """The cases whose key is where other cases of their suite went."""
    suites = grouped((was[0], now[0]) for now, was in partners.items())
    left = without(head, partners)
    gone = without(base, set(partners.values()))
    places = {was: (suite, was[1]) for was in gone for suite in suites.get(was[0], ()) if (suite, was[1]) in left}
    return {now: was for was, now in places.items()}


def _edited_prompts(base: Cases, head: Cases) -> dict[Key, Key]:
    """The most similar cases, of those whose key on the base is made of their prompts, which an edit changes."""
    unnamed = {key: case for key, case in base.items() if KEY_OF_PROMPTS.fullmatch(key[1])}
    if not 0 < len(unnamed) * len(head) <= MOST_COMPARED:
        return {}
    from rapidfuzz.fuzz import ratio  # only suites without names need it

    similar = [
        (similarity, key, old)
        for key, case in head.items()
        for old, before in unnamed.items()
        if key[0] == old[0] and (similarity := _similarity(before, case, ratio)) >= SIMILAR
    ]
    partners: dict[Key, Key] = {}
    for _, key, old in sorted(similar, key=lambda one: -one[0]):
        if key not in partners and old not in partners.values():
            partners[key] = old
    return partners


def _similarity(before: CaseReport, now: CaseReport, ratio: Callable[[str, str], float]) -> float:
    """How similar prompts and names are, 0–1; 0 if other texts are expected, or if the report is without prompts.

    The name has what differs in a long template: the variables of a `.prompt.yml` file. One that is only the
    beginning of the prompt does not count.
    """
    old, new = turns_of(before), turns_of(now)
    same_expected = [turn.expected for turn in old] == [turn.expected for turn in new]
    if not (old and same_expected and all(turn.prompt for turn in (*old, *new))):
        return 0.0
    texts = ("\n".join(turn.prompt for turn in turns)[:LONGEST_COMPARED] for turns in (old, new))
    names = (
        "" if one_line(turns[0].prompt).startswith(case.name.removesuffix("…")) else case.name
        for case, turns in ((before, old), (now, new))
    )
    return min(ratio(*texts), ratio(*names)) / 100


def _renamed(base: Cases, head: Cases, label: Callable[[CaseReport], object]) -> dict[Key, Key]:
    """The keys of cases with the same label, in order. Copies that the other side lacks were added or removed."""
    before, now = (grouped((label(case), key) for key, case in cases.items()) for cases in (base, head))
    both = before.keys() & now.keys()
    return {key: old for content in both for key, old in zip(now[content], before[content], strict=False)}


def _pair(base: CaseReport, head: CaseReport) -> Pair:
    """Both sides of a case. One that is critical on the base is not quarantined; a renamed or moved one is as on
    the base, whose list may have another case under the new key, or in the new suite.
    """
    moved = (head.suite, head.key) != (base.suite, base.key)
    quarantined = (base if moved else head).quarantined and not is_critical(base)
    return Pair.of(base, head if quarantined is head.quarantined else replace(head, quarantined=quarantined))


def _same_content(base: CaseReport, head: CaseReport) -> bool:
    return base.fingerprint == head.fingerprint or base.content == head.content


def _same_checks(base: CaseReport, head: CaseReport) -> bool:
    """Whether the checks are equal in everything that could be weaker; nearly always true."""
    before, after = turns_of(base), turns_of(head)
    if [len(turn.results) for turn in before] != [len(turn.results) for turn in after]:
        return False
    return all(
        _same_check(old, new)
        for turn, turn_now in zip(before, after, strict=True)
        for old, new in zip(turn.results, turn_now.results, strict=True)
    )


def _same_check(old: CheckResult, new: CheckResult) -> bool:
    if new.outcome is Outcome.SKIPPED and old.outcome.measured:
        return False
    return (old.id, old.negated, old.threshold, old.weight) == (new.id, new.negated, new.threshold, new.weight)


def turns_of(case: CaseReport) -> Sequence[TurnReport]:
    """The turns of its first attempt."""
    return case.attempts[0].turns if case.attempts else ()


def case_changes(pairs: Sequence[Pair], *, confirmed: Container[int]) -> Iterator[Change]:
    """Every case of equal content whose result changed, in the head's order.

    `confirmed` holds the places of the regressed pairs that are sure by themselves; the others are suspects.
    """
    for place, pair in enumerate(pairs):
        change = _difference(pair, "confirmed" if place in confirmed else "suspect")
        if change is not None:
            yield change
        elif pair.renamed:
            yield change_of(pair, "renamed")


def _difference(pair: Pair, regressed: ChangeLabel) -> Change | None:
    """The change of the case; `regressed` is the label of a regression."""
    if not pair.measured:
        return change_of(pair, "unmeasured") if pair.base.status is not pair.head.status else None
    if pair.regressed:
        return change_of(pair, "regressed", regressed)
    if pair.fixed:
        return change_of(pair, "fixed", "flaky" if pair.head.flaky else "fixed")
    if pair.now.values != pair.before.values:  # as of nearly every case
        difference = fmean(pair.now.values) - fmean(pair.before.values)
        if difference != 0.0:
            return change_of(pair, "better" if difference > 0 else "worse")
    return None


def change_of(pair: Pair, kind: ChangeKind, label: ChangeLabel | None = None) -> Change:
    """The change of a case that both sides have; its default label says whether it is flaky."""
    label = label or ("flaky" if pair.head.flaky else None)
    return record_from(Change, pair.head, change=kind, label=label, base=pair.base, head=pair.head)


def one_sided(case: CaseReport, kind: Literal["added", "removed"]) -> Change:
    """A case that only one side has."""
    label, base, head = {"added": ("new", None, case), "removed": (None, case, None)}[kind]
    return record_from(Change, case, change=kind, label=label, base=base, head=head)
