"""What the author wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import force_setattr

from runevals.records.problem import FileProblem, Location, Problem
from runevals.records.quiet import Quiet
from runevals.records.trace import Message, Response, SimulatedUser
from runevals.records.values import NOTHING
from runevals.records.workspace import Workspace

EVAL_DOCUMENT, AGENTSKILLS = "eval-document", "agentskills"  # formats that `--format` takes, beside `results`
LONGEST_NAME, LONGEST_QUESTION = 80, 40
KEY_OF_PROMPTS = re.compile(r"p-[0-9a-f]{10}(-\d+)?")  # of a case that nobody named
LABELS = ("capability", "difficulty", "construct", "provenance")  # what a case may declare to cover


def one_line(text: str) -> str:
    """`text` on one line: what names a case that its author gave no name."""
    line = " ".join(text.split())
    return text if line == text else line  # most are: one text is enough


def cut_name(line: str, longest: int = LONGEST_NAME) -> str:
    """`line`, cut to the length of a name."""
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def called(key: str, name: str) -> str:
    """What sentences call a case: its key; of one that nobody named, the beginning of what it asks."""
    return f"“{cut_name(name, LONGEST_QUESTION)}”" if KEY_OF_PROMPTS.fullmatch(key) else key


class EvaluatorSpec(Quiet, frozen=True, kw_only=True, gc=False):
    """One evaluator as the suite declares it, before it is built."""

    hidden = ignored = frozenset({"location", "built", "valid"})

    name: str
    options: Mapping[str, object] = {}
    threshold: float | None = None  # on the evaluator's own scale; None takes its default
    weight: float = 1.0
    id: str | None = None  # the author's name for it, if that is not the evaluator's name
    negated: bool = False  # passes if the evaluator fails
    children: tuple[EvaluatorSpec, ...] = ()  # of an evaluator that combines others
    location: Location | None = None
    built: object = None  # what the catalogue built of it, if it did; a changed copy has none
    valid: bool = False  # its options fit: it was built before

    def __post_init__(self) -> None:
        force_setattr(self, "built", None)
        force_setattr(self, "valid", False)  # noqa: FBT003


class Turn(Quiet, frozen=True, kw_only=True, gc=False):
    """One prompt of a case, the expected answer and its checks."""

    hidden = ignored = frozenset({"location"})

    prompt: str
    expected: str | None = None
    context: str | None = None
    author_prompt: str | None = None  # the author's prompt, if `prompt` contains more
    checks: Sequence[EvaluatorSpec] = ()  # a tuple, or those of a large suite, which are on disk
    user: SimulatedUser | None = None  # who writes the prompts; `prompt` describes it
    recorded: Response | None = None  # the answer the suite itself brings, for --evaluate-only
    location: Location | None = None

    @property
    def evaluators(self) -> tuple[str, ...]:
        """The evaluators that its checks name, in order; those on disk are listed beside them, and not read."""
        names: tuple[str, ...] | None = getattr(self.checks, "evaluators", None)
        return tuple([spec.name for spec in self.checks]) if names is None else names


class Case(Struct, frozen=True, kw_only=True, gc=False):
    """One thing to run: a single prompt, or the turns of one conversation."""

    suite: str
    key: str
    name: str
    turns: tuple[Turn, ...]
    location: Location
    opening: tuple[Message, ...] = ()  # messages before the first prompt: system messages, examples
    model: str | None = None  # the model that the suite is written for, if it names one
    parameters: Mapping[str, object] = NOTHING  # of that model
    category: str | None = None
    tags: tuple[str, ...] = ()
    critical: bool = False
    group: str | None = None  # category gates are counted for each group, such as a skill
    metadata: Mapping[str, object] = NOTHING
    variables: Mapping[str, object] = NOTHING  # for the target's prompt template
    cwd: Path | None = None  # working folder of a program under test; absolute
    workspace: Workspace | None = None  # a fresh one for each attempt, in place of `cwd`
    files: Mapping[str, Path] = NOTHING  # path in the workspace → file or folder, absolute
    problem: Problem | None = None  # why it cannot be run
    fetched: Mapping[str, str] = NOTHING  # address → sha256 of what was there
    mocked: bool = False  # tool calls are answered by the mocks of the case
    timeout_s: float | None = None  # for one answer, if the suite sets one
    fingerprint: str = ""  # sha256 of prompts, variables, expectations, context and checks
    normalised_fingerprint: str | None = None  # the same with white space normalised, if that is another


class Requires(Struct, frozen=True, kw_only=True, gc=False):
    """What must be there before a suite is run: programs, files of the repository, variables."""

    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    env: tuple[str, ...] = ()


class Suite(Struct, frozen=True, kw_only=True, gc=False):
    """One suite file, read."""

    name: str
    path: str
    dialect: str
    cases: tuple[Case, ...]
    fingerprint: str = ""
    description: str | None = None
    requires: Requires | None = None
    legacy: bool = False  # in a shape that `upgrade` rewrites
    problems: tuple[FileProblem, ...] = ()
    files: tuple[Path, ...] = ()  # that it names and that were read into it
    skill: Path | None = None  # the folder of the skill that it is for
    skill_name: str | None = None  # as the file names that skill
    messages: tuple[Message, ...] = ()  # with variables, of a prompt file: they are under test

    @property
    def errors(self) -> tuple[FileProblem, ...]:
        return tuple(problem for problem in self.problems if problem.level == "error")


def labels_of(case: Case) -> Mapping[str, tuple[str, ...]]:
    """What a case declares to cover: label → texts, for the labels that it has."""
    labels = {label: _texts(case.metadata[label]) for label in LABELS if label in case.metadata}
    return {label: texts for label, texts in labels.items() if texts}


def _texts(value: object) -> tuple[str, ...]:
    """The texts of a label, each once."""
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(dict.fromkeys(text for text in filter(None, values) if isinstance(text, str)))


def notes_of(case: Case) -> str | None:
    """What the author of a case notes for those who see it fail."""
    notes = case.metadata.get("notes")
    return notes if isinstance(notes, str) and notes.strip() else None
