"""What the author wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runevals.records.problem import Location, SuiteProblem
from runevals.records.trace import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorSpec:
    """One evaluator as the suite asks for it, before it is built."""

    name: str
    options: Mapping[str, object] = field(default_factory=dict)
    threshold: float | None = None  # on the evaluator's own scale; None takes its default
    weight: float = 1.0
    id: str | None = None  # what the author calls it, where that is not its name
    location: Location | None = field(default=None, compare=False)
    pointer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One prompt of a case and what its answer is held against."""

    prompt: str
    expected: str | None = None
    context: str | None = None
    checks: tuple[EvaluatorSpec, ...] = ()
    recorded: Response | None = None  # the answer the suite itself brings, for --evaluate-only
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing to run: a single prompt, or the turns of one conversation."""

    suite: str
    key: str
    name: str
    turns: tuple[Turn, ...]
    location: Location
    category: str | None = None
    tags: tuple[str, ...] = ()
    critical: bool = False
    metadata: Mapping[str, object] = field(default_factory=dict)
    fingerprint: str = ""  # sha256 of prompts, expectations, context and checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One suite file, read."""

    name: str
    path: str
    dialect: str
    cases: tuple[Case, ...]
    fingerprint: str = ""
    description: str | None = None
    legacy: bool = False  # in a shape that `upgrade` rewrites
    problems: tuple[SuiteProblem, ...] = ()

    @property
    def errors(self) -> tuple[SuiteProblem, ...]:
        return tuple(problem for problem in self.problems if problem.level == "error")
