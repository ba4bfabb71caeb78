"""The decision behind the exit code, the text, the XML and the comment."""

from __future__ import annotations

from enum import StrEnum
from types import NoneType
from typing import Literal

from msgspec import Struct

from runevals.records.blame import Blame
from runevals.records.comparison import AgainstComparison, Comparison, Finding, MarkComparison
from runevals.records.report import RunReport, always
from runevals.records.rules import LIFTED
from runevals.records.values import Count, Number, Whole

ADDED = "added"  # instead of the base's fingerprint, if only the change has the case
REMOVED = "removed"  # instead of the head's fingerprint, if the case is not in the change any more
ERROR_METRICS = frozenset({"errors", "judge_coverage"})  # of gates: how much was measured


class AcceptedLoss(Struct, frozen=True, kw_only=True, gc=False):
    """A lost case by the fingerprints of both sides: of its content, and of the target that answered."""

    suite: str
    case: str  # its key
    base: str
    head: str
    reason: str = ""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What must be equal for an entry to be about a loss."""
        return self.suite, self.case, self.base, self.head


class Acceptance(Struct, frozen=True, kw_only=True, gc=False):
    """Losses that do not block, because a reviewer agreed to them."""

    by: str  # the name on GitHub of who agreed
    losses: tuple[AcceptedLoss, ...]


class GateState(StrEnum):
    """The outcome of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    WARNED = "warned"
    NOT_APPLICABLE = "not_applicable"


_WITHOUT_ACCEPTED = LIFTED | {"measured", "weakening"}  # gates that accepted losses do not fail


class GateResult(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One gate, applied. `observed` and `limit` are on the metric's own scale, shares as 0–1."""

    name: str
    state: GateState
    reason: str
    observed: Number | None = always(NoneType)
    limit: Number | None = always(NoneType)
    metric: str | None = always(NoneType)  # None if there is no number
    undecided: bool = False  # it blocks, and what could not be measured decides whether it fails

    @property
    def counts_accepted(self) -> bool:
        """Whether it fails, also by losses that a reviewer accepts."""
        return self.state is GateState.FAILED and _WITHOUT_ACCEPTED.isdisjoint({self.name, self.metric})

    @property
    def unmeasured(self) -> bool:
        """Whether it says nothing about the answers because too little was measured."""
        of_errors = self.name == "measured" or (self.metric in ERROR_METRICS and self.observed is not None)
        return self.undecided or (of_errors and self.state is GateState.FAILED)


FinalOutcome = Literal["passed", "failed", "unmeasured", "skipped"]


class FinalVerdict(Struct, frozen=True, kw_only=True, gc=False):
    """The last word on a run."""

    outcome: FinalOutcome
    headline: str
    exit_code: Whole
    warns: bool = False  # it passes, and the headline names what to look at


class TextChange(Struct, frozen=True, kw_only=True, gc=False):
    """What a change did to a text that the target reads: a unified diff, without its file names."""

    path: str  # relative to the repository
    diff: str
    by_code: bool = False  # the base has no file of this path, and code may name it


class SkillUse(Struct, frozen=True, kw_only=True):
    """The runs of queries for one set of skills in which one set of skills was loaded; an empty set is none."""

    asks_for: tuple[str, ...]  # the skills that are to be loaded
    loads: tuple[str, ...]
    head_runs: Count
    base_runs: Count | None = None  # None: there is no base


class SkillMatrix(Struct, frozen=True, kw_only=True):
    """All of them, of the trigger queries of several skills; with a base, of the queries of both sides."""

    cases: Count
    uses: tuple[SkillUse, ...]


class Conclusion(Struct, frozen=True, kw_only=True, gc=False):
    """Report, comparison, gates and verdict: all a reporter ever needs."""

    report: RunReport
    comparison: Comparison | None
    gates: tuple[GateResult, ...]
    verdict: FinalVerdict
    mark: MarkComparison | None = None
    against: AgainstComparison | None = None
    prompt_changes: tuple[TextChange, ...] = ()  # since the base's commit
    acceptance: Acceptance | None = None  # of losses that the comparison found
    waiting: tuple[AcceptedLoss, ...] = ()  # losses that the change accepts, and no reviewer yet
    findings: tuple[Finding, ...] = ()  # about the run itself: its base, targets that it removes
    skill_matrix: SkillMatrix | None = None  # of the trigger queries of several skills
    strength: str = ""  # how many wrong answers its suites notice, if that was measured
    blame: Blame | None = None  # which hunks lost its cases, if that was searched


class Links(Struct, frozen=True, kw_only=True, gc=False):
    """Web addresses; None if there is none."""

    files: str | None = None  # of the repository's files at the commit that was run, ends in a slash
    run: str | None = None
    head: str | None = None  # that commit
