"""The difference between a run and its baseline."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from runevals.records.report import CaseReport, RunReport, Totals
from runevals.records.rules import Mark
from runevals.records.suite import called
from runevals.records.values import Number, Whole

FRESH = "a fresh run of"  # how the source of a base that was run now begins


class State(StrEnum):
    """The answer to "did it get worse?", of one unit and of the whole comparison."""

    WORSE = "worse"
    NOT_KNOWN = "not_known"
    NOT_WORSE = "not_worse"


class Reason(StrEnum):
    """Why a unit is in its state. `verdict/reasons.py` says each in a sentence, with what settles it."""

    PROVEN = "proven"
    EXACT = "exact"
    REMOVED = "removed"
    BUDGET = "budget"
    ERRORS = "errors"
    UNMEASURED = "unmeasured"
    OLD_FORM = "old_form"
    BASE_FILES = "base_files"
    BASE_EDITS = "base_edits"
    BASE_MISSING = "base_missing"
    INCOMPARABLE = "incomparable"
    CHANCE = "chance"
    CACHE = "cache"
    PASSED_AGAIN = "passed_again"
    BASE_ALIKE = "base_alike"
    UNPROVEN = "unproven"
    BY_CHANCE = "by_chance"
    NEW_FORM = "new_form"
    SMALL = "small"
    ERRORS_ALLOWED = "errors_allowed"


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

    @property
    def called(self) -> str:
        """What sentences call it."""
        return called(self.key, self.name)


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
        """How much it got worse, in its unit: less of a share, more seconds or dollars."""
        return (self.base_mean - self.head_mean) * (1 if self.unit == "share" else -1)


class ToolPaths(Struct, frozen=True, kw_only=True, gc=False):
    """How far the tools that were called, in their order, are those of the base's own runs; informs."""

    cases: Whole  # whose tool calls both sides report
    f1: Number  # 0–1, the mean over the cases; of each run, with the most similar run of the base
    changed: tuple[str, ...] = ()  # keys of the cases with another path, the least similar first


Family = Literal["whole", "suite", "category", "group", "case"]
MetricName = Literal["pass_rate", "share"]
PARTS: tuple[Family, ...] = ("whole", "suite", "category", "group")


class Finding(Struct, frozen=True, kw_only=True, gc=False):
    """What the runs of both sides say about one unit: the whole, a part, or a case with its checks.

    Means are shares 0–1. The fresh runs of a case are not part of any score.
    """

    family: Family
    name: str = ""  # of the suite, category or group; the key of a case; empty: the whole
    state: State
    reason: Reason
    detail: str = ""  # what the sentence of the reason names
    suite: str = ""  # of a case
    title: str = ""  # of a case
    dead: bool = False  # it passed on the base and in no run now, or in all there and fails now: line one names it
    critical: bool = False
    edited: bool = False  # both sides ran the base's form of it
    checks: tuple[str, ...] = ()  # that were lost in a case; empty: its outcome
    metric: MetricName = "pass_rate"
    cases: Whole = 1
    base_mean: Number | None = None
    head_mean: Number | None = None
    interval: tuple[Number, Number] | None = None  # 95 %, of the drop
    p_value: Number | None = None  # one-sided, for a loss
    e_value: Number | None = None  # of the fresh pairs
    chance: Number | None = None  # that an unchanged suite shows as much, where nothing can be run again
    expected: Number | None = None  # such cases in an unchanged suite
    more: Whole | None = None  # pairs of runs that would settle it
    base: CaseReport | None = None  # fresh runs; None if there are none
    head: CaseReport | None = None

    @property
    def drop(self) -> float:
        """What was lost; a loss is positive, 0 if unknown."""
        return 0.0 if self.base_mean is None or self.head_mean is None else self.base_mean - self.head_mean

    @property
    def key(self) -> tuple[str, str]:
        """Suite and key of a case."""
        return self.suite, self.name

    @property
    def called(self) -> str:
        """What sentences call it."""
        return called(self.name, self.title)


class CategoryChange(Struct, frozen=True, kw_only=True, gc=False):
    """The shared cases of one category on both sides; rates are of attempts, 0–1, None if no attempt counts."""

    name: str | None  # None: the cases without a category
    cases: Whole
    base_rate: Number | None
    head_rate: Number | None


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


class Arm(Struct, frozen=True, kw_only=True, gc=False):
    """What the same cases reached in one of three ways. Means over the cases; cost is that of a run of a case."""

    name: str
    cases: Whole
    pass_rate: Number
    share: Number
    cost_usd: Number | None = None


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
    state: State | None = None  # of another target
    lost_cases: Whole = 0  # that lose half of their runs and more
    lost_parts: tuple[Finding, ...] = ()  # that are proven to have lost more than the margin
    times_more: Number | None = None  # about how many times the cases or runs would settle what is not known
    arms: tuple[Arm, ...] = ()  # the other, the base, this run: the cases that all three measured
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
    state: State
    findings: tuple[Finding, ...] = ()  # the whole, the parts, then cases: critical ones first
    improved: bool = False  # fresh runs of both sides confirm that more passes
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
    metrics: tuple[MetricChange, ...] = ()  # the others, Holm-corrected together
    tool_paths: ToolPaths | None = None  # None: a side does not report its tool calls
    categories: tuple[CategoryChange, ...] = ()
    flaky: tuple[FlakyCase, ...] = ()
    quarantined: Whole = 0  # cases left out of the comparison by the base's list
    weakenings: tuple[Weakening, ...] = ()
    caveats: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()  # why the base is not known to be as the commit to compare with
    base_error: str = ""  # why the base's commit cannot be run, if it was tried
    fresh: str = ""  # which fresh runs of both sides decided about the whole, in words


class Comparison(ComparisonFigures, frozen=True, kw_only=True, gc=False):
    """Head against base."""

    base: RunReport
    changes: tuple[Change, ...] = ()

    def of_kind(self, *kinds: ChangeKind) -> tuple[Change, ...]:
        """The changes of these kinds, in case order."""
        return tuple(change for change in self.changes if change.change in kinds)

    @property
    def lost_cases(self) -> tuple[Change, ...]:
        """The cases that are certainly lost."""
        return tuple(change for change in self.of_kind("regressed") if change.label == "confirmed")

    def cases(self, *states: State) -> tuple[Finding, ...]:
        """What is found about cases, where it is one of these states."""
        return self._findings_of(("case",), states)

    def parts(self, *states: State) -> tuple[Finding, ...]:
        """What is found about the whole and its parts, where it is one of these states."""
        return self._findings_of(PARTS, states)

    def _findings_of(self, families: tuple[Family, ...], states: tuple[State, ...]) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.family in families and each.state in states)

    def finding(self, suite: str, key: str) -> Finding | None:
        """What is found about a case; None if nothing of it was in question."""
        return {each.key: each for each in self.cases(*State)}.get((suite, key))

    @property
    def renamed(self) -> tuple[Change, ...]:
        """The changes of cases that have another key in the base."""
        return tuple(change for change in self.changes if change.former_key is not None)
