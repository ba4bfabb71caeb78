"""The difference between a run and its baseline."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from runevals.records.numbers import Number, Whole
from runevals.records.report import CaseReport, RunReport, Totals
from runevals.records.rules import Mark


class ComparisonVerdict(StrEnum):
    """The answer to "did it get worse?"."""

    REGRESSION = "regression"
    SMALL = "small"  # a real drop, below the floor
    WARNING = "warning"  # only in documents of earlier versions
    IMPROVED = "improved"
    NO_CHANGE = "no_change"
    NOT_CONFIRMED = "not_confirmed"
    INCONCLUSIVE = "inconclusive"
    INCOMPARABLE = "incomparable"


ChangeKind = Literal[
    "regressed", "fixed", "added", "removed", "edited", "renamed", "worse", "better", "unmeasured", "quarantined"
]
ChangeLabel = Literal["confirmed", "suspect", "flaky", "fixed", "new"]


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """One case that is not what it was."""

    suite: str
    key: str
    name: str
    change: ChangeKind
    label: ChangeLabel | None = None
    base: CaseReport | None = None
    head: CaseReport | None = None

    @property
    def former_key(self) -> str | None:
        """The key that the base knows it by, if that is another."""
        return None if self.base is None or self.base.key == self.key else self.base.key


class Weakening(Struct, frozen=True, kw_only=True, gc=False):
    """Something that makes the suite see less than the base's suite did."""

    suite: str
    key: str
    message: str


class Flips(Struct, frozen=True, kw_only=True, gc=False):
    """Cases that changed between pass and fail, and how many would by chance if nothing had changed."""

    down: Whole
    up: Whole
    expected_down: Number | None = None  # None: unknown from the runs of the base
    expected_up: Number | None = None


class FlakyCase(Struct, frozen=True, kw_only=True, gc=False):
    """A case that disagrees with itself: `rate` is the chance that two runs of it differ, 0–0.5."""

    suite: str
    key: str
    rate: Number
    runs: Whole


MetricUnit = Literal["share", "seconds", "usd"]


class MetricChange(Struct, frozen=True, kw_only=True, gc=False):
    """A secondary metric; both p are one-sided, for a loss; `holm_p` is corrected over all secondary metrics."""

    name: str
    unit: MetricUnit = "share"  # 0–1; of the others, more is worse
    cases: Whole
    base_mean: Number
    head_mean: Number
    p_value: Number
    holm_p: Number

    @property
    def loss(self) -> float:
        """By how much it got worse, in its unit: less of a share, more seconds or dollars."""
        return (self.base_mean - self.head_mean) * (1 if self.unit == "share" else -1)


class ToolPaths(Struct, frozen=True, kw_only=True, gc=False):
    """How far the tools that were called, in their order, are those of the base's own runs; informs."""

    cases: Whole  # whose tool calls both sides report
    f1: Number  # 0–1, the mean over the cases; of each run, with the most similar run of the base
    changed: tuple[str, ...] = ()  # keys of the cases with another path, the least similar first


InconclusiveBy = Literal["suspects", "errors", "families", "base"]
Family = Literal["whole", "suite", "category", "group"]
MetricName = Literal["pass_rate", "share"]
Finding = Literal["lost", "small", "unclear", "errors", "none"]


class Hypothesis(Struct, frozen=True, kw_only=True, gc=False):
    """One tested hypothesis: this metric fell, overall or in this part. Means are shares 0–1."""

    family: Family
    name: str  # of the suite, category or group; empty: overall
    metric: MetricName
    cases: Whole
    base_mean: Number
    head_mean: Number
    interval: tuple[Number, Number]  # 95 %, of the drop
    p_value: Number  # one-sided, for a loss
    corrected_p: Number  # by Holm: over the overall metrics, or over all parts
    finding: Finding = "none"  # small: real, below the floor; unclear: large, may be noise; errors: they decide

    @property
    def drop(self) -> float:
        """What was lost; a loss is positive."""
        return self.base_mean - self.head_mean


SuspectState = Literal["confirmed", "dropped", "cleared", "open", "unrun"]


class Suspect(Struct, frozen=True, kw_only=True, gc=False):
    """A case that may be lost, and the result of its fresh runs on both sides.

    confirmed: it is lost; dropped, cleared: the loss was not confirmed; open: undecided; unrun: only two
    documents were compared, so nothing could be run. The fresh runs are not part of any score.
    """

    suite: str
    key: str
    name: str
    critical: bool
    state: SuspectState
    reason: str = ""  # why it is open
    edited: bool = False  # both sides ran the base's form of it
    p_value: Number | None = None  # one-sided, of the fresh runs alone
    base: CaseReport | None = None  # fresh runs; None if there are none
    head: CaseReport | None = None


class CategoryChange(Struct, frozen=True, kw_only=True, gc=False):
    """The shared cases of one category on both sides; rates are of attempts, 0–1, None if no attempt counts."""

    name: str | None  # None: the cases without a category
    cases: Whole
    base_rate: Number | None
    head_rate: Number | None


class Verification(Struct, frozen=True, kw_only=True, gc=False):
    """What fresh runs of both sides say about a loss. moved: the base itself changed."""

    state: Literal["confirmed", "not_confirmed", "moved", "impossible", "off"]
    reason: str


class MarkRun(Struct, frozen=True, kw_only=True, gc=False):
    """The earlier run that a mark names."""

    mark: Mark
    source: str  # its origin, in words
    report: RunReport
    best_of: Whole = 1  # results of which it is the best: it was lucky, too


class MarkComparison(Struct, frozen=True, kw_only=True, gc=False):
    """A run compared with a marked run, to show many small losses. Means are shares 0–1; informational."""

    mark: str
    source: str
    commit: str | None
    started_at: datetime
    cases: Whole  # of equal content, measured on both sides
    metric: MetricName
    base_mean: Number
    head_mean: Number
    interval: tuple[Number, Number]  # 95 %, of the drop
    p_value: Number  # one-sided, for a loss; corrected for two metrics, and for the results that the best is of
    sure: bool  # the drop is not noise
    deterministic: bool = False
    judge_left_out: bool = False  # another judge graded the marked run

    @property
    def drop(self) -> float:
        """What was lost; a loss is positive."""
        return self.base_mean - self.head_mean


class AgainstComparison(Struct, frozen=True, kw_only=True, gc=False):
    """A run compared with the same cases measured otherwise in the same rounds: without the skill, or by a target.

    Means are shares 0–1; informational, unless a gate names it.
    """

    name: str  # as `--against` names it
    cases: Whole  # measured on both sides
    metric: MetricName
    other_mean: Number
    head_mean: Number
    interval: tuple[Number, Number]  # 95 %, of the gain
    p_value: Number  # one-sided, for what is seen: a gain or a loss
    cost_ratio: Number | None = None  # the cost of this run by that of the other, of the same cases
    always_passed: tuple[str, ...] = ()  # checks that passed in every run of both, as `case: check`
    always_failed: tuple[str, ...] = ()
    deterministic: bool = False  # both sides
    margin: Number | None = None  # of another target: how much worse than it this one may be
    margin_p_value: Number | None = None  # that it is worse by the margin or more (Holm); None: deterministic
    drop_bound: Number | None = None  # the smallest margin at which it would be called not worse
    other: RunReport | None = None  # what was measured; a document has none of it
    gain: Number = 0.0  # what this run has more; a loss is negative
    not_worse: bool = False  # it is shown that this run is at most the margin worse

    def __post_init__(self) -> None:
        is_shown = self.margin is not None and self.drop_bound is not None and self.drop_bound <= self.margin
        force_setattr(self, "gain", self.head_mean - self.other_mean)
        force_setattr(self, "not_worse", is_shown)


class ComparisonFigures(Struct, frozen=True, kw_only=True, gc=False):
    """What a comparison found. `drop` and `interval` are shares 0–1; a positive drop is a loss."""

    source: str  # the origin of the base, in words
    verdict: ComparisonVerdict
    why: str = ""  # it is inconclusive or incomparable
    inconclusive_by: InconclusiveBy | None = None  # families: a large drop that may be noise; base: an old base
    shared: Whole  # cases on both sides with the same content
    compared: Whole  # of these, measured on both sides
    base_cases: Whole
    base_totals: Totals  # over the shared cases, as head_totals
    head_totals: Totals
    deterministic: bool
    rounds_done: Whole = 1  # head runs a case, of those planned
    rounds_planned: Whole = 1
    metric: MetricName = "pass_rate"
    p_value: Number | None = None
    gain_p_value: Number | None = None
    drop: Number | None = None
    base_mean: Number | None = None
    head_mean: Number | None = None
    interval: tuple[Number, Number] | None = None
    detectable_drop: Number | None = None
    rerun_agreement: Number | None = None  # the probability 0–1 that an identical run of the head fails again
    cases_needed: Whole | None = None  # to detect a drop of 5 points, if this comparison could not
    repeats_needed: Whole | None = None
    repeats_for_half: Whole | None = None  # runs a case and side that would see half of `detectable_drop`
    flips: Flips | None = None
    hypotheses: tuple[Hypothesis, ...] = ()  # overall and of the parts
    suspects: tuple[Suspect, ...] = ()  # single cases that may be lost, critical ones first
    metrics: tuple[MetricChange, ...] = ()  # the others, Holm-corrected together
    tool_paths: ToolPaths | None = None  # None: a side does not report its tool calls
    categories: tuple[CategoryChange, ...] = ()
    flaky: tuple[FlakyCase, ...] = ()
    critical_lost: tuple[str, ...] = ()  # keys of critical cases that are lost, or were removed
    quarantined: Whole = 0  # cases left out of the comparison by the base's list
    on_base_suite: bool = False  # the head was run on the base's suite, because its own cannot be compared
    weakenings: tuple[Weakening, ...] = ()
    caveats: tuple[str, ...] = ()
    inexact_base: str = ""  # why the base is not known to be as the commit to compare with; a pass warns of it
    verification: Verification | None = None


class Comparison(ComparisonFigures, frozen=True, kw_only=True, gc=False):
    """Head against base."""

    base: RunReport
    changes: tuple[Change, ...] = ()

    def of_kind(self, *kinds: ChangeKind) -> tuple[Change, ...]:
        """The changes of these kinds, in case order."""
        return tuple(change for change in self.changes if change.change in kinds)

    @property
    def renamed(self) -> tuple[Change, ...]:
        """The changes of cases that have another key in the base."""
        return tuple(change for change in self.changes if change.former_key is not None)
