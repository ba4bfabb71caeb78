"""Both reports, reduced to what can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from runevals.lib.text.numbers import phrase, plural, short_list
from runevals.records import RunReport
from runevals.verdict.comparability import both_deterministic, judges_differ, other_target, without_judge
from runevals.verdict.matching import MatchedRuns, Pair, match, was_due
from runevals.verdict.weakenings import absent_groups, missing_scores

NO_RESULT = "there is no result of {}, of which the base has some: is a results file missing, or did it not run?"
MIN_SHARED = 0.8  # of each suite's cases: below, they cannot be compared


class Sides(Struct, frozen=True):
    """The cases of two reports, side by side."""

    head: RunReport
    base: RunReport
    matched: MatchedRuns
    same: list[Pair]  # of equal content
    pairs: list[Pair]  # of these, those that are not quarantined
    other_target: str = ""  # how the target's type differs from the base's
    judged: Sequence[Pair] = ()  # whose scores two judges gave, which are left out of the others

    @classmethod
    def of(cls, head: RunReport, base: RunReport) -> Sides:
        """Matches the cases; if the judges differ, their results are left out."""
        judged: list[Pair] = []
        sides = (head, base)
        if judges_differ(head, base):
            if head.run.judge and base.run.judge:
                judged = [pair for pair in match(base.cases, head.cases).both if pair.judged]
            sides = (without_judge(head), without_judge(base))
        matched = match(sides[1].cases, sides[0].cases)
        same = [pair for pair in matched.both if pair.same_content]
        counted = [pair for pair in same if not pair.head.quarantined]
        return cls(head, base, matched, same, counted, other_target(head, base), judged)

    @property
    def deterministic(self) -> bool:
        """Whether the targets of both sides are called deterministic."""
        return both_deterministic(self.head, self.base)

    @property
    def due(self) -> list[Pair]:
        """The pairs that should have values on both sides."""
        return [pair for pair in self.pairs if pair.before.due and pair.now.due]

    @property
    def measured(self) -> list[Pair]:
        """The pairs with values on both sides."""
        return [pair for pair in self.pairs if pair.measured]

    @property
    def edited(self) -> list[Pair]:
        """The cases of which both forms are run on the head: what the base measured, and the change edited.

        One that another judge scores is edited, too; and of critical ones those of which only white space was: the
        target may read it, such as code.
        """
        judged = {pair.key for pair in self.judged}
        edited = [
            pair
            for pair in self.matched.both
            if pair.key not in judged
            and (not pair.same_content or (pair.critical and pair.base.fingerprint != pair.head.fingerprint))
        ]
        return [pair for pair in (*edited, *self.judged) if pair.before.runs and not pair.head.quarantined]

    def too_few(self, settled: frozenset[tuple[str, str]] = frozenset()) -> str:
        """Why too few cases can be compared: under 80 % of a suite's, or none of a file of results; else empty.

        A case counts if the same judge checked it on both sides, and if its old form was run (`settled`). One that
        passes without the score of a check does not.
        """
        if self.other_target:
            return self.other_target
        if not (self.matched.both or self.matched.removed):
            return "no case is left"
        judged = {pair.key for pair in self.judged if not pair.head.quarantined}
        usable = [
            pair
            for pair in self.matched.both
            if pair.key in settled or (pair.key not in judged and _can_be_compared(pair))
        ]
        due = Counter(pair.base.suite for pair in self.matched.both if pair.before.due)
        due.update(case.suite for case in self.matched.removed if was_due(case))
        left = Counter(pair.base.suite for pair in usable if pair.before.due)
        suite = next((suite for suite, cases in due.items() if left[suite] < MIN_SHARED * cases), None)
        absent = [*absent_groups(self.base, self.matched)]
        asks = phrase(short_list([*next(filter(None, absent), {}).values()]), NO_RESULT)
        if suite is None:
            return asks if any(absent[:1]) else ""  # what did not run has no file
        where = f" in {suite}" if len(due) > 1 else ""
        judge = phrase(self.judged, ", or two judges scored them (judge both sides again: compare --rejudge)")
        of_suite = (pair for pair in self.matched.both if pair.base.suite == suite)
        lacks = Counter(check for pair in of_suite for _, check in missing_scores(pair))
        which = phrase(short_list([f"{check} in {count}" for check, count in lacks.items()]), " ({})")
        number = f"{phrase(asks, '{} Only') or 'only'} {left[suite]}"
        return (
            f"{number} of the base's {plural(due[suite], 'case')}{where} can be compared, the others "
            f"were edited, removed or skipped, or lack a score{which}{judge}"
        )


def _can_be_compared(pair: Pair) -> bool:
    is_measured = pair.same_content and pair.before.due and pair.now.due
    return pair.head.quarantined or bool(is_measured and not missing_scores(pair))
