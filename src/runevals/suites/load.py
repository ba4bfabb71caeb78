"""Settings → the suites of a run, and whether what they bring along can be used."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runevals.evaluators import catalogue
from runevals.evaluators.kinds import Evaluator, Scripted
from runevals.lib.chat.providers import PROVIDERS
from runevals.lib.parsing.source import is_of_git
from runevals.lib.text.escape import one_line
from runevals.records import Case, EvaluatorSpec, Location, PromptTemplate, Suite, SuiteProblem, Turn
from runevals.records.errors import (
    InvalidOptions,
    InvalidSettings,
    InvalidSuite,
    NoSuiteFound,
    UnknownEvaluator,
    UnrecognisedSuite,
)
from runevals.records.script import ScriptRunner
from runevals.settings.resolve import Settings, SuiteEntry
from runevals.suites.dialects import LoadOptions, eval_samples, load, skill_cases
from runevals.suites.discover import discover, suite_files
from runevals.suites.plan import RunPlan, wanted
from runevals.suites.prompt import prompt_problems, with_prompts

_MOST_LOOKED_AT, _MOST_BYTES = 50, 1_000_000  # of files that may be suites by another name
# Targets whose tool calls we answer, or that played them before.
CAN_INTERCEPT = frozenset({*PROVIDERS, "recorded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuites:
    """The suites of a run, and what its reader should know of finding them."""

    suites: tuple[Suite, ...]
    notices: tuple[str, ...] = ()
    quarantined: frozenset[tuple[str, str]] = frozenset()  # suite and key
    files: tuple[Path, ...] = ()  # of the suites and what they name, as it was named: a link is not followed

    @property
    def problems(self) -> tuple[SuiteProblem, ...]:
        return tuple(problem for suite in self.suites for problem in suite.problems)


def load_suites(settings: Settings) -> LoadedSuites:
    """discover → load. Raises InvalidSuite with every error of every file, NoSuiteFound."""
    try:
        return required(*read_suites(settings))
    except NoSuiteFound as error:
        alike = () if settings.suites else tuple(_alike(settings))
        if not alike:
            raise
        shown = [one_line(shown_path(path, settings), 120) for path in alike]
        named = f"{', '.join(shown)}. Run one: runevals {shlex.quote(shown[0])}"
        raise NoSuiteFound(f"{error}\nThese look like suites: {named}") from None


def _alike(settings: Settings) -> Iterator[Path]:
    """Files here and in the folders here that have the shape of a suite, whatever they are called."""
    folders = [settings.cwd, *(path for path in sorted(settings.cwd.iterdir()) if path.is_dir())]
    readable = [path for path in folders if not path.is_symlink() and os.access(path, os.R_OK | os.X_OK)]
    visible = [path for path in readable if path == settings.cwd or not path.name.startswith(".")]
    files = [path for folder in visible for path in suite_files(folder) if not path.is_symlink()]
    for path in [path for path in files if path.stat().st_size <= _MOST_BYTES][:_MOST_LOOKED_AT]:
        with suppress(InvalidSuite):
            if load(path, shown_path(path, settings), LoadOptions()).cases:
                yield path


def required(loaded: LoadedSuites, problems: Sequence[SuiteProblem]) -> LoadedSuites:
    """Suites without an error, at least one. Raises InvalidSuite, NoSuiteFound."""
    if problems:
        raise InvalidSuite(problems)
    if not loaded.suites:
        raise NoSuiteFound("none of the files there is a suite")
    return loaded


def read_suites(settings: Settings) -> tuple[LoadedSuites, list[SuiteProblem]]:
    """What can be read of every file, and all that is told of those with errors. Raises NoSuiteFound."""
    suites: list[Suite] = []
    notices: list[str] = []
    broken: list[SuiteProblem] = []
    seen: set[Path] = set()
    files: list[Path] = []
    entries = settings.suites or (None,)
    for entry in entries:
        if entry is not None and entry.from_file:
            _require_inside(entry, settings)
        found = discover(
            settings.cwd if entry is None else entry.base,
            None if entry is None else entry.path,
            everything=settings.everything,
        )
        here: list[Suite] = []
        for path in found.files:
            if path.resolve() in seen:
                continue  # named twice, by pattern or link: it is one suite
            seen.add(path.resolve())
            try:
                suite = _load(path, entry, settings)
            except UnrecognisedSuite as error:
                if path in found.optional:
                    notices.append(f"passed over, as it is no suite: {shown_path(path, settings)}")
                else:
                    broken += error.problems
            except InvalidSuite as error:
                broken += error.problems
            else:
                if found.folder is not None and _is_no_samples(suite, path):
                    notices.append(f"passed over by its name: {shown_path(path, settings)}")
                    continue
                here.append(suite)
                files += [path, *suite.files]
        suites += here if found.folder is None else _samples_together(here, shown_path(found.folder, settings))
        if found.passed_over:
            shown = ", ".join(shown_path(path, settings) for path in found.passed_over)
            notices.append(f"also found, not run: {shown} (--all runs them)")
    suites = _skill_cases_together(suites)
    broken += [problem for suite in suites if suite.errors for problem in suite.problems]
    if _is_asked(settings):
        broken += prompt_problems(suites, _template(settings), lambda case: wanted(case, settings))
    return LoadedSuites(suites=tuple(suites), notices=tuple(notices), files=tuple(files)), broken


def as_asked(suites: Sequence[Suite], settings: Settings) -> tuple[Suite, ...]:
    """The suites with the prompts that the target is sent. Raises InvalidSuite for cases that it cannot be."""
    if not _is_asked(settings):
        return tuple(suites)
    return with_prompts(suites, _template(settings), lambda case: wanted(case, settings))


def _is_asked(settings: Settings) -> bool:
    """Whether prompts are sent, or would have been: recorded answers may be of cases that have none."""
    target = settings.target
    without_any = target is None or (target.type == "recorded" and target.prompt is None)
    return not settings.evaluate_only and not without_any


def _template(settings: Settings) -> PromptTemplate | None:
    return None if settings.target is None else settings.target.prompt


def _load(path: Path, entry: SuiteEntry | None, settings: Settings) -> Suite:
    """One file → suite. Raises InvalidSuite, for a link of the repository that leads out of it too."""
    stands_inside = Path(os.path.normpath(path)).is_relative_to(settings.repository)
    if stands_inside or (entry is not None and entry.from_file):
        _require_own(path, settings)
    return load(path, shown_path(path, settings), _options(entry, settings))


def _require_inside(entry: SuiteEntry, settings: Settings) -> None:
    """Raises InvalidSettings for a path of the settings file that leads out, before it is looked for."""
    named = Path(os.path.normpath(entry.base / entry.path))
    roots = (settings.repository, settings.repository.resolve())
    told = "is git's own" if is_of_git(named, settings.repository) else ""
    if not any(map(named.is_relative_to, roots)):
        told = "lies outside the repository"
    if told:
        raise InvalidSettings(f"suites: {entry.path} {told}; suites elsewhere are named on the command line")


def _require_own(path: Path, settings: Settings) -> None:
    """Raises InvalidSuite for what a link makes of a file of the repository."""
    real, root = path.resolve(), settings.repository.resolve()
    if real.is_relative_to(root) and not is_of_git(real, root):
        return
    told = "leads to git's own files" if real.is_relative_to(root) else "leads out of the repository"
    told = f"{told} by a link; put the suite itself here"
    raise InvalidSuite([SuiteProblem(location=Location(file=str(path)), pointer="", message=told)])


def _is_no_samples(suite: Suite, path: Path) -> bool:
    """Whether a file that looks like samples is what a tool wrote beside them."""
    return suite.dialect == eval_samples.NAME and path.name.startswith(("report", "health", "_"))


def _samples_together(suites: Sequence[Suite], folder: str) -> list[Suite]:
    """The files of samples in one folder are one suite, named for it also where there is but one of them yet."""
    samples = [suite for suite in suites if suite.dialect == eval_samples.NAME]
    if not samples:
        return list(suites)
    others = [suite for suite in suites if suite.dialect != eval_samples.NAME]
    return [*others, eval_samples.together(samples, folder)]


def _skill_cases_together(suites: Sequence[Suite]) -> list[Suite]:
    """Files of skill cases that lie in the folders of one root are one suite."""
    roots: dict[str, list[Suite]] = {}
    for suite in suites:
        if suite.dialect == skill_cases.NAME:
            folder, _, name = suite.path.rpartition("/")[0].rpartition("/")
            root = (folder or ".") if name in skill_cases.CATEGORIES else suite.path
            roots.setdefault(root, []).append(suite)
    merged = [
        skill_cases.together(found, root) if root != found[0].path else found[0] for root, found in roots.items()
    ]
    return [*(suite for suite in suites if suite.dialect != skill_cases.NAME), *merged]


def shown_path(path: Path, settings: Settings) -> str:
    """A suite's name: its path relative to the repository's root, with forward slashes."""
    resolved = path.resolve()
    root = settings.repository.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else str(path)


def without_model(suites: Sequence[Suite]) -> list[str]:
    """The cases that name no model of their own."""
    return [f"{suite.path}: {case.key}" for suite in suites for case in suite.cases if case.model is None]


def require(suites: Sequence[Suite], settings: Settings) -> None:
    """Raises InvalidSettings for what must be there before anything is sent, and is not; nothing is executed."""
    missing: list[str] = []
    for suite in suites:
        needed = suite.requires
        if needed is not None:
            missing += [f"{suite.path}: the program {name}" for name in needed.tools if not shutil.which(name)]
            found = settings.repository
            missing += [f"{suite.path}: the file {name}" for name in needed.files if not (found / name).exists()]
            known = settings.environment
            missing += [f"{suite.path}: the variable {name}" for name in needed.env if not known.get(name)]
        missing += [
            f"{suite.path}: {case.key}: the folder {case.cwd}"
            for case in suite.cases
            if case.cwd is not None and not _is_folder_inside(settings.repository, case.cwd)
        ]
    calls = [suite.path for suite in suites if suite.dialect == skill_cases.NAME]
    if calls and settings.target is not None and settings.target.type not in ("skill", "recorded"):
        raise InvalidSettings(
            f"{calls[0]} holds cases for skills, which a {settings.target.type} target is not; "
            "use --target skill, or name other suites"
        )
    target = settings.target
    of_models = target is not None and target.type in PROVIDERS
    if target is not None and of_models and not target.model and (lost := without_model(suites)):
        told = f"the {target.type} target has no model; name one with --model or target.model"
        raise InvalidSettings(f"{told} ({lost[0]} names none either)")
    mocked = [f"{suite.path}: {case.key}" for suite in suites for case in suite.cases if case.mocked]
    if mocked and settings.target is not None and settings.target.type not in CAN_INTERCEPT:
        raise InvalidSettings(
            f"{mocked[0]} answers tool calls by mocks, which a {settings.target.type} target cannot let us do"
        )
    if missing:
        told = "\n".join(f"  {line}" for line in missing)
        raise InvalidSettings(f"this is required, and is not here:\n{told}")


def _is_folder_inside(root: Path, path: Path) -> bool:
    return path.is_dir() and path.resolve().is_relative_to(root.resolve())


def rehearse(plan: RunPlan, sandbox: ScriptRunner) -> None:
    """Tries what evaluators bring along before anything is sent. Raises InvalidSuite with every fault."""
    planned = (
        _Tried(case, turn, check.spec, check.evaluator)
        for case, turns in zip(plan.cases, plan.checks, strict=True)
        for turn, checks in zip(case.turns, turns, strict=True)
        for check in checks.checks
    )
    if problems := _unusable(planned, sandbox):
        raise InvalidSuite(problems)


def unusable(suites: Sequence[Suite], sandbox: ScriptRunner) -> list[SuiteProblem]:
    """What evaluators bring along and cannot be used; of those that cannot even be built, their suite has told."""
    built: dict[int, Evaluator | None] = {}  # by spec: a suite has few of them for many cases

    def tried() -> Iterator[_Tried]:
        for suite in suites:
            for case in suite.cases:
                for turn in case.turns:
                    for spec in turn.checks:
                        if id(spec) not in built:
                            built[id(spec)] = _built(spec)
                        if (evaluator := built[id(spec)]) is not None:
                            yield _Tried(case, turn, spec, evaluator)

    return _unusable(tried(), sandbox)


@dataclass(frozen=True, slots=True)
class _Tried:
    case: Case
    turn: Turn
    spec: EvaluatorSpec
    evaluator: Evaluator


def _built(spec: EvaluatorSpec) -> Evaluator | None:
    try:
        return catalogue.build(spec)[0]
    except (InvalidOptions, UnknownEvaluator):
        return None


def _unusable(tried: Iterable[_Tried], sandbox: ScriptRunner) -> list[SuiteProblem]:
    problems: dict[SuiteProblem, None] = {}
    seen: set[tuple[str, str, str]] = set()
    for one in tried:
        if not isinstance(one.evaluator, Scripted):
            continue
        call = one.evaluator.rehearsal(one.turn.expected)
        if call is None or (key := (call.kind, call.code, str(call.arguments))) in seen:
            continue
        seen.add(key)
        answer = sandbox.run(call)
        if answer.error is not None:
            location = one.spec.location or one.turn.location or one.case.location
            message = f"{one.spec.id or one.spec.name} cannot be used: {answer.reason}"
            problem = SuiteProblem(
                location=location, pointer=one.spec.pointer, message=message, rule="evaluator-unusable"
            )
            problems[problem] = None
    return list(problems)


def _options(entry: SuiteEntry | None, settings: Settings) -> LoadOptions:
    named = entry.evaluators if entry is not None and entry.evaluators else settings.evaluators
    return LoadOptions(
        evaluators=named,
        evaluate_only=settings.evaluate_only,
        definitions=settings.definitions,
        root=settings.repository,
    )
