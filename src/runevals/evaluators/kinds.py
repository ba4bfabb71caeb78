"""The four kinds of evaluator, their input and their requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec import Struct

from runevals.records import Layer, Message, Outcome, Probe, Problem, Response, Scale, Verdict
from runevals.records.judgement import Judgement, Question
from runevals.records.outcome import ONE_TO_FIVE, PASS_OR_FAIL
from runevals.records.script import Answer, Call


class Subject(Struct, frozen=True, kw_only=True):
    """One turn, as evaluators see it."""

    prompt: str
    response: Response
    expected: str | None = None
    context: str | None = None
    history: tuple[Message, ...] = ()
    metadata: Mapping[str, object] = {}


@dataclass(frozen=True, kw_only=True)
class Evaluator(ABC):  # noqa: B024 - its four kinds have the abstract methods
    """The base of all evaluators. An evaluator does no I/O and is immutable."""

    name: ClassVar[str] = ""
    layer: ClassVar[Layer] = Layer.FACT
    scale: ClassVar[Scale] = PASS_OR_FAIL
    default_threshold: ClassVar[float | None] = None  # None: pass or fail, no threshold to set
    threshold_option: ClassVar[str | None] = None  # the option that holds a suite's threshold, if any
    needs_expected: ClassVar[bool] = False
    needs_workspace: ClassVar[bool] = False  # it looks at what an attempt left in its folder

    def problems(self) -> Iterable[tuple[str | None, str]]:
        """What is wrong with the options beyond their types: (option, sentence)."""
        return ()

    def probes(self) -> tuple[Probe, ...]:
        """What it needs to know of the workspace, which is looked at as soon as the answer is there."""
        return ()

    def never_fails(self, expected: str | None) -> str | None:  # noqa: ARG002 - most do not look at it
        """Why no answer can fail it, or None; `expected` is the expected text of the case."""
        return None

    def idle_without_expected(self) -> bool:
        """Whether it needs an expected text."""
        return self.needs_expected

    def of_no_json(self, response: Response) -> Verdict | None:  # noqa: ARG002 - most need the result itself
        """The verdict for a result that is not JSON; None if it cannot decide."""
        return None


class Check(Evaluator):
    """Looks by itself."""

    @abstractmethod
    def check(self, subject: Subject) -> Verdict | Problem:
        """The verdict on `subject`, or a problem if the needed evidence was not reported."""


class Comparison(Check):
    """Compares the response with the expected text."""

    needs_expected: ClassVar[bool] = True

    def check(self, subject: Subject) -> Verdict | Problem:
        if subject.expected is None:
            return Verdict.skipped("no expected text")
        return self.compare(subject.response.text, subject.expected)

    @abstractmethod
    def compare(self, text: str, expected: str) -> Verdict | Problem:
        """The verdict on a response with this text."""


class Judged(Evaluator):
    """Asks a model."""

    layer: ClassVar[Layer] = Layer.JUDGE
    scale: ClassVar[Scale] = ONE_TO_FIVE
    default_threshold: ClassVar[float | None] = 3.0
    rubric: ClassVar[str] = ""

    @abstractmethod
    def question(self, subject: Subject) -> Question | Verdict | Problem:
        """The question for the judge, a verdict if there is no question, or a problem if evidence is missing."""

    def verdict(self, answer: Judgement) -> Verdict:
        """What the judge's reply means."""
        return Verdict(answer.score, answer.reason)


class Scripted(Evaluator):
    """Has something run in the sandbox."""

    may_be_quick: ClassVar[bool] = False  # whether it is worth asking the sandbox

    @abstractmethod
    def call(self, subject: Subject) -> Call | Verdict | Problem:
        """The call to run, a verdict if none is needed, or a problem if the evidence is missing."""

    @abstractmethod
    def verdict(self, answer: Answer) -> Verdict:
        """The verdict from the worker's answer; not called for an error."""

    def rehearsal(self, expected: str | None) -> Call | None:  # noqa: ARG002 - most do not look at it
        """A call that fails before the run if the options or the expected text are invalid."""
        return None


class Member(Struct, frozen=True, kw_only=True):
    """A member of a composite, with the options from its author."""

    id: str
    evaluator: Evaluator
    threshold: float | None
    negated: bool = False


class Part(Struct, frozen=True, kw_only=True):
    """The result of a member; `score` is a share 0–1, None if it has none."""

    id: str
    outcome: Outcome
    score: float | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Composite(Evaluator):
    """Combines others. `members` are built from the suite and are not an option."""

    members: tuple[Member, ...] = ()

    def idle_without_expected(self) -> bool:
        return bool(self.members) and all(each.evaluator.idle_without_expected() for each in self.members)

    @property
    def in_order(self) -> bool:
        """Whether a member is looked at only when those before it are done."""
        return False

    def enough(self, parts: Sequence[Part]) -> bool:  # noqa: ARG002 - most look at all of them
        """Whether the results so far decide, so that the other members need not run."""
        return False

    @abstractmethod
    def combine(self, parts: Sequence[Part]) -> Verdict | Problem:
        """What the members' results mean together; `parts` are those that were run, in order."""


def leaves(evaluator: Evaluator) -> Iterator[Evaluator]:
    """The evaluator itself, or the leaves of a composite."""
    if isinstance(evaluator, Composite):
        for member in evaluator.members:
            yield from leaves(member.evaluator)
    else:
        yield evaluator


def unless(wrong: Sequence[str], passes: str, fails: str, **details: object) -> Verdict:
    """A verdict that passes, unless something is wrong, which it names."""
    return Verdict(0.0, f"{fails}: {', '.join(wrong)}", details) if wrong else Verdict(1.0, passes)


def either(passes: str, fails: str, *, passed: bool) -> Verdict:
    """A verdict that passes or fails, with the reason for that."""
    return Verdict(1.0, passes) if passed else Verdict(0.0, fails)


def missing(message: str) -> Problem:
    """Evidence that is not there."""
    return Problem(code="evidence_missing", message=message)


AnyEvaluator = Check | Judged | Scripted | Composite
