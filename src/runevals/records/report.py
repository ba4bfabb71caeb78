"""What came out of one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import NoneType
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct, field
from msgspec.structs import force_setattr

from runevals.records.outcome import FROM_0_TO_1, Layer, Outcome
from runevals.records.problem import STOPPED_CODES, WORKSPACE_BROKEN, Problem
from runevals.records.rules import BY_HASH, CRITICAL_CATEGORIES, REDTEAM
from runevals.records.suite import Case
from runevals.records.trace import Citation, Delivery, SimulatedConversation, ToolCall
from runevals.records.values import NOTHING, Amount, Count, Number, Ordinal, Positive, Whole
from runevals.records.workspace import WorkspaceChanges

T = TypeVar("T")
NO_CHECKS = Problem(code="evidence_missing", message="no check looks at its answer")
MOST_SHARDS = 999_999
_ONE = 1.0
_PASSED, _FAILED = Outcome.PASSED, Outcome.FAILED  # read for every run of every case


def always(kind: Callable[[], T]) -> T:
    """The default of a field that documents have even then: `kind()`."""
    default: T = field(default_factory=kind)
    return default


def _share(record: Struct, **defaults: object) -> None:
    """Values that equal the default become it: a document leaves it out, and it is in memory once."""
    for name, default in defaults.items():
        value = getattr(record, name)
        if value is not default and value == default:
            force_setattr(record, name, default)


def share_of(composite: float | None) -> float | None:
    """A score 1–5 as a share 0–1."""
    return None if composite is None else (composite - 1.0) / 4.0


class CheckResult(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One evaluator applied to one turn, and its outcome."""

    id: str
    evaluator: str
    layer: Layer
    outcome: Outcome
    score: Number | None = always(NoneType)  # share 0–1; None if the scale is open-ended or nothing was judged
    value: Number | None = always(NoneType)  # on the evaluator's own scale
    scale: tuple[Number, Number | None] = FROM_0_TO_1
    threshold: Number | None = None
    weight: Positive = _ONE
    negated: bool = False  # it passes if the evaluator fails, and the reverse
    reason: str = always(str)
    details: Mapping[str, object] = NOTHING
    error: Problem | None = None
    judge_model: str | None = None
    cost_usd: Number | None = None
    cached: bool = False  # its judgements are from the cache
    passed: bool = always(bool)  # whether it was measured and passed

    def __post_init__(self) -> None:
        force_setattr(self, "passed", self.outcome is _PASSED)
        _share(self, scale=FROM_0_TO_1, weight=_ONE, details=NOTHING)


class TurnReport(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One turn: prompt, answer and the results of its checks."""

    prompt: str
    expected: str | None
    output: str | None
    results: tuple[CheckResult, ...]
    context: str | None = None
    latency_s: Number | None = always(NoneType)
    cost_usd: Number | None = always(NoneType)
    input_tokens: Whole | None = None
    output_tokens: Whole | None = None
    tool_calls: tuple[ToolCall, ...] | None = always(NoneType)
    citations: tuple[Citation, ...] | None = None
    model: str | None = None
    cached: bool = always(bool)  # from the cache, with the original cost and time
    value: object = None  # the JSON value behind `output`, of a target that returns values
    raised: str | None = None  # the error of the call, if an error is a valid answer
    delivery: Delivery | None = None
    reasoning_tokens: Whole | None = None  # of the output
    session: str | None = None  # by which an agent goes on with the conversation
    refused: tuple[str, ...] = ()  # tools that were called and not permitted
    workspace: WorkspaceChanges | None = None
    conversation: SimulatedConversation | None = None  # of a turn with a simulated user
    error: Problem | None = always(NoneType)


class Layers(Struct, frozen=True, kw_only=True, gc=False):
    """Layer scores 1–5; None if nothing of a layer was measured."""

    fact: Number | None = None
    behavior: Number | None = None
    judge: Number | None = None
    incomplete: tuple[Layer, ...] = ()  # layers with errored checks


class AttemptReport(Struct, frozen=True, kw_only=True, gc=False):
    """One execution of one case."""

    attempt: Ordinal
    status: Outcome
    composite: Number | None  # 1–5, mean of the layers present
    layers: Layers
    turns: Sequence[TurnReport]  # a tuple, or those of a large run, which are on disk
    graded: bool = False  # a check other than pass or fail took part
    share: Number | None = None  # the composite as a share 0–1

    def __post_init__(self) -> None:
        force_setattr(self, "share", share_of(self.composite))
        if type(self.turns) is list:  # as a document is decoded
            force_setattr(self, "turns", tuple(self.turns))

    @property
    def cached(self) -> bool:
        """Whether one of its answers is from the cache."""
        return any(turn.cached for turn in self.turns)

    @property
    def value(self) -> float | None:
        """What is compared with the base: the share, 1 or 0 where there is none; None if it was not measured.

        Of checks on a scale of their own, the mean of the checks' scores: the share says only whether they passed.

        If a judge failed to answer, there is no share to compare.
        """
        passed = self.status is _PASSED
        if not passed and self.status is not _FAILED:
            return None
        if self.layers.incomplete and Layer.JUDGE in self.layers.incomplete:
            return None
        for turn in self.turns:
            for result in turn.results:  # nearly always without a score of its own: no list is made
                score = result.score
                if (
                    score is not None
                    and score != result.passed
                    and result.layer is not Layer.JUDGE
                    and result.outcome.measured
                ):
                    return self._mean_score
        return (1.0 if passed else 0.0) if self.share is None else self.share

    @property
    def _mean_score(self) -> float:
        """The mean of what was measured: the score of each check, or whether it passed."""
        results = [result for turn in self.turns for result in turn.results if result.outcome.measured]
        return sum(float(each.passed) if each.score is None else each.score for each in results) / len(results)

    @property
    def unmeasured(self) -> bool:
        """Something of it could not be measured: an answer, or a check of one."""
        return self.status is Outcome.ERRORED or bool(self.layers.incomplete) or self.cut_short or self.unchecked

    @property
    def unchecked(self) -> bool:
        """Whether its case has no check."""
        return self.status is Outcome.SKIPPED and not any(turn.results for turn in self.turns)

    @property
    def cut_short(self) -> bool:
        """Whether the run stopped before it was answered."""
        return self.status is Outcome.SKIPPED and any(
            turn.error is not None and turn.error.code in STOPPED_CODES for turn in self.turns
        )


class BaseResult(Struct, frozen=True, kw_only=True, gc=False):
    """Where a result is from that a case keeps because the change does not affect it."""

    commit: str
    measured_at: datetime


class CaseReport(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One case over all its attempts."""

    suite: str
    key: str
    name: str
    file: str
    line: Whole | None
    fingerprint: str
    status: Outcome
    attempts: Annotated[tuple[AttemptReport, ...], Meta(min_length=1)]
    layers: Layers
    composite: Number | None
    pass_rate: Number | None  # share of the measured attempts that passed
    category: str | None = always(NoneType)
    tags: tuple[str, ...] = always(lambda: ())
    critical: bool = always(bool)
    group: str | None = None  # category gates are counted for each group, such as a skill
    fetched: Mapping[str, str] = NOTHING  # address → sha256 of what was there
    quarantined: bool = False  # known to be flaky: run and shown, but ignored by gates
    labels: Mapping[str, tuple[str, ...]] = NOTHING  # what its author declares it to cover
    tripwire: bool = False  # a trap that the target is expected to fall into; scored like any other
    normalised_fingerprint: str | None = None  # of the content with white space normalised, if that is another
    notes: str | None = None  # of its author, such as the issue that it is for
    base_result: BaseResult | None = None  # it was not run: the result is the base's
    copies: tuple[Whole, ...] = ()  # attempts whose answers an intermediate cache repeated
    share: Number | None = always(NoneType)  # the composite as a share 0–1
    flaky: bool = always(bool)  # some measured attempts passed and some did not
    tripped: bool | None = None  # whether the tripwire was triggered; None if there is none or it was not measured

    def __post_init__(self) -> None:
        measured = self.tripwire and self.status in (_PASSED, _FAILED)
        force_setattr(self, "share", share_of(self.composite))
        force_setattr(self, "flaky", self.pass_rate is not None and 0.0 < self.pass_rate < 1.0)
        force_setattr(self, "tripped", self.status is _FAILED if measured else None)
        _share(self, fetched=NOTHING, labels=NOTHING)

    @property
    def content(self) -> str:
        """The fingerprint that identifies a renamed or edited case."""
        return self.normalised_fingerprint or self.fingerprint

    @property
    def unmeasured(self) -> bool:
        """Something of it could not be measured: an answer, or a check of one."""
        return any(attempt.unmeasured for attempt in self.attempts)

    @property
    def runs(self) -> tuple[AttemptReport, ...]:
        """The attempts that count as runs: answers repeated by a cache do not count."""
        return tuple([attempt for attempt in self.attempts if attempt.attempt not in self.copies])

    @property
    def any_failed(self) -> bool:
        """Whether one of its runs failed."""
        return Outcome.FAILED in {run.status for run in self.runs}

    @property
    def leaks(self) -> bool:
        """Whether a run failed of a category in which each counts."""
        return (self.category, bool(self.quarantined)) == (REDTEAM, False) and self.any_failed

    @property
    def values(self) -> tuple[float, ...]:
        """The measured runs' values, in order."""
        return tuple([value for attempt in self.runs if (value := attempt.value) is not None])


def is_critical(case: Case | CaseReport) -> bool:
    """Marked as critical, or of a category whose cases all are: no gate may ignore it."""
    return case.critical or case.category in CRITICAL_CATEGORIES


OF_TOOL = "results of "  # how the dialect of a suite begins whose results another tool wrote
AND = " + "  # between the names of several models


class ModelIdentity(Struct, frozen=True, kw_only=True, gc=False):
    """The identity of a target or a judge, as far as it is known."""

    type: str
    model: str | None = None
    reported: tuple[str, ...] = ()  # models as the provider names them in its answers
    deterministic: bool = False
    prompt_hash: str | None = None
    detail: Mapping[str, object] = {}


class SuiteInfo(Struct, frozen=True, kw_only=True, gc=False):
    """A suite as the results document remembers it."""

    name: str
    path: str
    dialect: str
    fingerprint: str


class Provenance(Struct, frozen=True, kw_only=True, gc=False):
    """The commit of a run, its options, and its notices."""

    commit: str | None = None
    ref: str | None = None
    settings: Mapping[str, object] = {}
    notices: tuple[str, ...] = ()
    prices: str | None = None  # what costs are computed from
    uncommitted: str | None = None  # see RunInfo


class ShardInfo(Struct, frozen=True, kw_only=True, gc=False):
    """The shard of a run, and the positions of its cases in the whole run."""

    part: Ordinal  # from 1
    of: Annotated[int, Meta(ge=1, le=MOST_SHARDS)]
    plan_cases: Count  # of all parts together
    positions: tuple[Count, ...]  # of this part's cases among those, in order
    split: str = BY_HASH  # what the cases were split by


class RunInfo(Struct, frozen=True, kw_only=True, gc=False):
    """Time, place and software of a run."""

    started_at: datetime
    duration_s: Amount
    target: ModelIdentity
    judge: ModelIdentity | None
    suites: tuple[SuiteInfo, ...]
    repeat: Ordinal = 1
    sandbox: Literal["strict", "reduced"] | None = None  # of the suites' code; None if no code ran
    commit: str | None = None
    ref: str | None = None
    python: str | None = None
    settings: Mapping[str, object] = {}
    notices: tuple[str, ...] = ()
    shard: ShardInfo | None = None  # None: the whole run run
    stopped: Problem | None = None  # why it stopped early
    prices: str | None = None  # the price list with its release; None if no cost is computed
    uncommitted: str | None = None  # a fingerprint of the files, if one that it may read differs from the commit

    @property
    def of_tool(self) -> bool:
        """Whether another tool made it, so that we cannot run its cases."""
        return any(suite.dialect.startswith(OF_TOOL) for suite in self.suites)

    @property
    def made_by(self) -> str:
        """What made it: a "tool", a "function" of the program that asks, or a target of the settings (empty)."""
        return "tool" if self.of_tool else str(self.target.detail.get("made_by", ""))

    @property
    def filters(self) -> list[str]:
        """The settings that left cases out."""
        return sorted({"category", "filter", "tag"} & self.settings.keys())

    @property
    def of_some_cases(self) -> bool:
        """Whether filters or a shard left cases out."""
        return self.shard is not None or bool(self.filters)


class Totals(Struct, frozen=True, kw_only=True, gc=False):
    """Counts of cases and means over them; None if nothing was measured or reported."""

    cases: Whole
    passed: Whole
    failed: Whole
    errored: Whole
    skipped: Whole
    pass_rate: Number | None
    composite: Number | None
    cost_usd: Number | None = None  # of the target
    judge_cost_usd: Number | None = None
    cached: Count = 0  # answers from the cache; their original costs count
    judge_cached: Count = 0  # checks whose judgements are all from the cache
    input_tokens: Whole | None = None
    output_tokens: Whole | None = None
    latency_p95_s: Number | None = None
    share: Number | None = None  # the mean composite as a share 0–1

    def __post_init__(self) -> None:
        force_setattr(self, "share", share_of(self.composite))


class VoteAgreement(Struct, frozen=True, kw_only=True, gc=False):
    """How far the votes on one evaluator's checks agree."""

    evaluator: str
    checks: Ordinal  # that were voted on
    alpha: Number | None  # Krippendorff's, for ordinal scores; None if all votes are equal
    contested: Count  # checks whose votes differ by half of the scale or more


class Coverage(Struct, frozen=True, kw_only=True, gc=False):
    """The cases by the values of one label; a case may be in several groups."""

    label: str
    groups: Mapping[str, Totals]
    without: Count  # cases without the label


class RunReport(Struct, frozen=True, kw_only=True, gc=False):
    """The results of one run."""

    tool_version: str
    run: RunInfo
    cases: Sequence[CaseReport]  # a tuple, or those of the shards of a large run, which are on disk
    totals: Totals
    by_category: Mapping[str, Totals]
    by_evaluator: Mapping[str, Totals]  # counts of checks instead of cases; composite is None
    agreement: tuple[VoteAgreement, ...] = ()
    complete: bool = True
    coverage: tuple[Coverage, ...] = ()  # by the labels that any case has; informs, and is part of no score

    @property
    def errors(self) -> Mapping[str, int]:
        """Error code → number of answers and checks, most frequent first.

        If an answer failed, its checks are not counted again.
        """
        counts: dict[str, int] = {}
        for case in self.cases:
            for attempt in case.attempts:
                if attempt.unchecked:
                    counts[NO_CHECKS.code] = counts.get(NO_CHECKS.code, 0) + 1
                for turn in attempt.turns:
                    for problem in [turn.error] if turn.error else [result.error for result in turn.results]:
                        if problem is not None and problem.code != WORKSPACE_BROKEN:
                            counts[problem.code] = counts.get(problem.code, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
