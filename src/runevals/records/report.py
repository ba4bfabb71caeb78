"""What came out of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Literal

from runevals.records.lazy_fields import PreparedJson, large
from runevals.records.outcome import Layer, Outcome
from runevals.records.problem import STOPPED_CODES, WORKSPACE_BROKEN, Problem
from runevals.records.quick_dataclass import dataclass
from runevals.records.rules import BY_HASH
from runevals.records.trace import Citation, Delivery, SimulatedConversation, ToolCall
from runevals.records.workspace import WorkspaceChanges

NO_CHECKS = Problem(code="evidence_missing", message="no check looks at its answer")
_PASSED, _FAILED = Outcome.PASSED, Outcome.FAILED  # read for every run of every case


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One evaluator applied to one turn, and its outcome."""

    id: str
    evaluator: str
    layer: Layer
    outcome: Outcome
    score: float | None = None  # share 0–1; None if the scale is open-ended or nothing was judged
    value: float | None = None  # on the evaluator's own scale
    scale: tuple[float, float | None] = (0.0, 1.0)
    threshold: float | None = None
    weight: float = 1.0
    negated: bool = False  # it passes if the evaluator fails, and the reverse
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    error: Problem | None = None
    judge_model: str | None = None
    cost_usd: float | None = None
    cached: bool = False  # its judgements are from the cache

    @property
    def passed(self) -> bool:
        """Whether it was measured and passed."""
        return self.outcome is _PASSED


@large("output", "tool_calls", "citations", "value", "raised", "workspace", "conversation")
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """One turn: prompt, answer and the results of its checks."""

    prompt: str
    expected: str | None
    output: str | None
    results: tuple[CheckResult, ...]
    context: str | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    citations: tuple[Citation, ...] | None = None
    model: str | None = None
    cached: bool = False  # from the cache, with the original cost and time
    value: object = None  # the JSON value behind `output`, of a target that returns values
    raised: str | None = None  # the error of the call, if an error is a valid answer
    delivery: Delivery | None = None
    reasoning_tokens: int | None = None  # of the output
    session: str | None = None  # by which an agent goes on with the conversation
    refused: tuple[str, ...] = ()  # tools that were called and not permitted
    workspace: WorkspaceChanges | None = None
    conversation: SimulatedConversation | None = None  # of a turn with a simulated user
    error: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Layer scores 1–5; None if nothing of a layer was measured."""

    fact: float | None = None
    behavior: float | None = None
    judge: float | None = None
    incomplete: tuple[Layer, ...] = ()  # layers with errored checks


@large("turns")
@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReport:
    """One execution of one case."""

    attempt: int
    status: Outcome
    composite: float | None  # 1–5, mean of the layers present
    layers: Layers
    turns: tuple[TurnReport, ...]
    graded: bool = False  # a check other than pass or fail took part

    @property
    def share(self) -> float | None:
        """The composite as a share 0–1."""
        return None if self.composite is None else (self.composite - 1.0) / 4.0

    @property
    def cached(self) -> bool:
        """Whether one of its answers is from the cache."""
        return any(turn.cached for turn in self.turns)

    @property
    def value(self) -> float | None:
        """What the regression test compares: the share if graded, otherwise 1 or 0; None if not measured.

        If a judge failed to answer, there is no share to compare.
        """
        passed = self.status is _PASSED
        if not passed and self.status is not _FAILED:
            return None
        if self.layers.incomplete and Layer.JUDGE in self.layers.incomplete:
            return None
        return self.share if self.graded else 1.0 if passed else 0.0

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReport(PreparedJson):
    """One case over all its attempts."""

    suite: str
    key: str
    name: str
    file: str
    line: int | None
    fingerprint: str
    status: Outcome
    attempts: tuple[AttemptReport, ...]
    layers: Layers
    composite: float | None
    pass_rate: float | None  # share of the measured attempts that passed
    category: str | None = None
    tags: tuple[str, ...] = ()
    critical: bool = False
    group: str | None = None  # category gates are counted for each group, such as a skill
    fetched: Mapping[str, str] = field(default_factory=dict)  # address → sha256 of what was there
    quarantined: bool = False  # known to be flaky: run and shown, but ignored by gates
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what its author declares it to cover
    tripwire: bool = False  # a trap that the target is expected to fall into; scored like any other
    normalised_fingerprint: str | None = None  # of the content with white space normalised, if that is another
    notes: str | None = None  # of its author, such as the issue that it is for
    copies: tuple[int, ...] = ()  # attempts whose answers an intermediate cache repeated

    @property
    def content(self) -> str:
        """The fingerprint that identifies a renamed or edited case."""
        return self.normalised_fingerprint or self.fingerprint

    @property
    def tripped(self) -> bool | None:
        """Whether the tripwire was triggered; None if there is none or it was not measured."""
        return self.status is _FAILED if self.tripwire and self.status in (_PASSED, _FAILED) else None

    @property
    def share(self) -> float | None:
        """The composite as a share 0–1."""
        return None if self.composite is None else (self.composite - 1.0) / 4.0

    @property
    def flaky(self) -> bool:
        """Some measured attempts passed and some did not."""
        return self.pass_rate is not None and 0.0 < self.pass_rate < 1.0

    @property
    def unmeasured(self) -> bool:
        """Something of it could not be measured: an answer, or a check of one."""
        return any(
            attempt.status is Outcome.ERRORED
            or attempt.layers.incomplete
            or attempt.cut_short
            or attempt.unchecked
            for attempt in self.attempts
        )

    @property
    def unchecked(self) -> bool:
        """Whether it has no check, so that another run would measure nothing."""
        return any(attempt.unchecked for attempt in self.attempts)

    @property
    def runs(self) -> tuple[AttemptReport, ...]:
        """The attempts that count as runs: answers repeated by a cache do not count."""
        if not self.copies:
            return self.attempts
        return tuple([attempt for attempt in self.attempts if attempt.attempt not in self.copies])

    @property
    def values(self) -> tuple[float, ...]:
        """The measured runs' values, in order."""
        return tuple([value for attempt in self.runs if (value := attempt.value) is not None])


OF_TOOL = "results of "  # how the dialect of a suite begins whose results another tool wrote
AND = " + "  # between the names of several models


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity:
    """The identity of a target or a judge, as far as it is known."""

    type: str
    model: str | None = None
    reported: tuple[str, ...] = ()  # models as the provider names them in its answers
    deterministic: bool = False
    prompt_hash: str | None = None
    detail: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteInfo:
    """A suite as the results document remembers it."""

    name: str
    path: str
    dialect: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The commit of a run, its options, and its notices."""

    commit: str | None = None
    ref: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    prices: str | None = None  # what costs are computed from
    uncommitted: str | None = None  # see RunInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardInfo:
    """The shard of a run, and the positions of its cases in the whole run."""

    part: int  # from 1
    of: int
    plan_cases: int  # of all parts together
    positions: tuple[int, ...]  # of this part's cases among those, in order
    split: str = BY_HASH  # what the cases were split by


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """Time, place and software of a run."""

    started_at: datetime
    duration_s: float
    target: ModelIdentity
    judge: ModelIdentity | None
    suites: tuple[SuiteInfo, ...]
    repeat: int = 1
    sandbox: Literal["strict", "reduced"] | None = None  # of the suites' code; None if no code ran
    commit: str | None = None
    ref: str | None = None
    python: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    shard: ShardInfo | None = None  # None: the whole run run
    stopped: Problem | None = None  # why it stopped early
    prices: str | None = None  # the price list with its release; None if no cost is computed
    uncommitted: str | None = None  # a fingerprint of the files, if one that it may read differs from the commit

    @property
    def of_tool(self) -> bool:
        """Whether another tool made it, so that we cannot run its cases."""
        return any(suite.dialect.startswith(OF_TOOL) for suite in self.suites)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts of cases and means over them; None if nothing was measured or reported."""

    cases: int
    passed: int
    failed: int
    errored: int
    skipped: int
    pass_rate: float | None
    composite: float | None
    cost_usd: float | None = None  # of the target
    judge_cost_usd: float | None = None
    cached: int = 0  # answers from the cache; their original costs count
    judge_cached: int = 0  # checks whose judgements are all from the cache
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_p95_s: float | None = None

    @property
    def share(self) -> float | None:
        """The mean composite as a share 0–1."""
        return None if self.composite is None else (self.composite - 1.0) / 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteAgreement:
    """How far the votes on one evaluator's checks agree."""

    evaluator: str
    checks: int  # that were voted on
    alpha: float | None  # Krippendorff's, for ordinal scores; None if all votes are equal
    contested: int  # checks whose votes differ by half of the scale or more


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The cases by the values of one label; a case may be in several groups."""

    label: str
    groups: Mapping[str, Totals]
    without: int  # cases without the label


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
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
                    own = [turn.error] if turn.error else [result.error for result in turn.results]
                    for problem in own:
                        if problem is not None and problem.code != WORKSPACE_BROKEN:
                            counts[problem.code] = counts.get(problem.code, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
