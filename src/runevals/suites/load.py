"""Files → the suites of a run, and whether what they bring along can be used."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from runevals.evaluators import catalogue
from runevals.evaluators.format_names import INVERTED, PRESETS
from runevals.evaluators.kinds import Scripted
from runevals.lib.nullable import grouped
from runevals.lib.parsing.shapes import options_by_name
from runevals.lib.parsing.source import is_of_git, unreadable
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import first_of, plural
from runevals.records import Case, EvaluatorSpec, FileProblem, Problem, PromptTemplate, Suite, Turn
from runevals.records.errors import (
    InvalidOptions,
    InvalidSettings,
    InvalidSuite,
    NoSuiteFound,
    OtherFormat,
    UnknownEvaluator,
    UnrecognisedSuite,
)
from runevals.records.rules import CATEGORY_GATES, Selection, SuiteEntry
from runevals.records.script import Call, ScriptRunner
from runevals.records.traits import UNKNOWN, Traits
from runevals.suites.dialects import LoadOptions, agent_skills, eval_samples, load, skill_cases
from runevals.suites.dialects.checking import joined_suites
from runevals.suites.discover import Discovery, discover, suite_files
from runevals.suites.plan import RunPlan
from runevals.suites.prompt import prompt_problems, variables_of, with_prompts
from runevals.suites.selection import is_selected
from runevals.suites.workspace import with_workspaces

PLACEHOLDER = "replace me"  # how what `init` writes begins where the author must write
_UNCHANGED = f"{{}} of `runevals init` still marked “{PLACEHOLDER}”: write your own"
_NO_WORKSPACE = (
    "looks at a workspace, and case '{}' has none; write `workspace`, or take a coding agent as the target"
)
USUAL = SuiteEntry(path="", base=Path())  # in place of entries: the usual places are searched
_Check = tuple[Case, Turn, EvaluatorSpec]
_MOST_SHOWN = 8  # suites that were seen and are not run
_MOST_CANDIDATES, _MOST_BYTES = 50, 1_000_000  # of files that may be suites by another name


class LoadRequest(Struct, frozen=True, kw_only=True):
    """Where the suites of a run are looked for, and how their files are read."""

    cwd: Path
    repository: Path
    settings: Path | None = None  # the file that says it
    below: Path | None = None  # a folder in `cwd` that has the settings: its suites come first
    elsewhere: Callable[[], str] = str  # what to do if there is none here
    entries: tuple[SuiteEntry, ...] = ()  # none: the usual places
    everything: bool = False  # in a usual place with several suites
    evaluators: tuple[str, ...] = ()  # for rows
    definitions: Mapping[str, EvaluatorSpec] = {}
    evaluate_only: bool = False
    selection: Selection = field(default_factory=Selection)
    sends_prompts: bool = True  # or they were sent before, in a recording with a template
    template: PromptTemplate | None = None
    other_templates: tuple[PromptTemplate, ...] = ()  # of several targets, for which the suites are read once
    target_type: str | None = None
    traits: Traits = UNKNOWN


class LoadedSuites(Struct, frozen=True, kw_only=True):
    """The suites of a run, and what its reader should know of finding them."""

    suites: tuple[Suite, ...]
    notices: tuple[str, ...] = ()
    quarantined: frozenset[tuple[str, str]] = frozenset()  # suite and key
    files: tuple[Path, ...] = ()  # of the suites and what they name, as it was named: a link is not followed
    warnings: tuple[FileProblem, ...] = ()  # of no suite: about a list beside them

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        return (*(problem for suite in self.suites for problem in suite.problems), *self.warnings)

    @property
    def cases(self) -> list[Case]:
        """The cases of all suites."""
        return [case for suite in self.suites for case in suite.cases]

    def only(self, is_wanted: Callable[[Case], object]) -> LoadedSuites:
        """The wanted cases, and the suites that have any."""
        suites = (replace(suite, cases=tuple(filter(is_wanted, suite.cases))) for suite in self.suites)
        return replace(self, suites=tuple(suite for suite in suites if suite.cases))


def load_suites(request: LoadRequest) -> LoadedSuites:
    """discover → load. Raises InvalidSuite with every error of every file, NoSuiteFound."""
    try:
        return require_suites(*read_suites(request))
    except NoSuiteFound as error:
        shapes = {path: _shape_of(path, os.path.relpath(path, request.cwd)) for path in _candidates(request)}
        paths = [os.path.relpath(path, request.cwd) for path, one in shapes.items() if one is True]
        lines = [str(error)]
        if paths:
            name = one_line(paths[0])
            examples = f"{one_line(', '.join(paths))}. Run one: runevals {shlex.quote(name)}"
            lines.append(f"These look like suites: {examples}, or in the settings: suites: [{json.dumps(name)}]")
        lines += [str(one) for one in shapes.values() if not isinstance(one, bool)][:_MOST_SHOWN]
        raise NoSuiteFound("\n".join(lines)) from None


def _discovered(entry: SuiteEntry, request: LoadRequest) -> Discovery:
    """The files of an entry; of the usual places, those of the settings' folder, or else of the folder here."""
    if entry is not USUAL:
        return discover(entry.base, entry.path, everything=request.everything)
    if request.below is not None:
        with suppress(NoSuiteFound):
            return discover(request.below, None, everything=request.everything)
    try:
        return discover(request.cwd, None, everything=request.everything)
    except NoSuiteFound as error:
        first, newline, more = str(error).partition("\n")
        raise NoSuiteFound(f"{first}{request.elsewhere()}{newline}{more}") from None


def require_evaluators(request: LoadRequest) -> None:
    """Raises UnknownEvaluator for those that flags or settings name: a suite with its own would not say it."""
    of_entries, unknown = [name for entry in request.entries for name in entry.evaluators], []
    for name in dict.fromkeys((*request.evaluators, *of_entries)):
        try:
            if name not in {*request.definitions, *INVERTED}:
                catalogue.find(PRESETS.get(name, name))
        except UnknownEvaluator as error:
            unknown.append(str(error))
    if unknown:
        raise UnknownEvaluator("\n".join(unknown))


def _candidates(request: LoadRequest) -> Sequence[Path]:
    """Files here and in the folders here that may be suites, whatever they are called."""
    folders = [request.cwd, *(path for path in sorted(request.cwd.iterdir()) if path.is_dir())]
    readable = [path for path in folders if not path.is_symlink() and os.access(path, os.R_OK | os.X_OK)]
    visible = [path for path in readable if path == request.cwd or not path.name.startswith(".")]
    files = [path for folder in visible for path in suite_files(folder) if not path.is_symlink()]
    others = [path for path in files if path != request.settings and path.stat().st_size <= _MOST_BYTES]
    return others[:_MOST_CANDIDATES]


def _shape_of(path: Path, name: str) -> OtherFormat | bool:
    """Whether a file has the shape of a suite; of one that is another tool's, what to do with it."""
    try:
        return bool(load(path, name, LoadOptions()).cases)
    except OtherFormat as error:
        return error
    except InvalidSuite:
        return False


def is_suite(path: Path) -> bool:
    """Whether a file has the shape of a suite, whatever it is called."""
    return _shape_of(path, path.name) is True


def require_suites(suites: LoadedSuites, problems: Sequence[FileProblem]) -> LoadedSuites:
    """Suites without an error, at least one. Raises InvalidSuite, NoSuiteFound."""
    if any(problem.level == "error" for problem in problems):
        raise InvalidSuite(problems)
    if not suites.suites:
        why = "none of the files there is a suite; runevals validate FILE says why"
        raise NoSuiteFound("\n".join((why, *suites.notices)))
    return replace(suites, warnings=tuple(problems))


def read_suites(request: LoadRequest) -> tuple[LoadedSuites, list[FileProblem]]:
    """What can be read of every file, and the problems of those with errors. Raises NoSuiteFound."""
    suites: list[Suite] = []
    notices: list[str] = []
    broken: list[FileProblem] = []
    known_paths: set[Path] = set()
    files: list[Path] = []
    for entry in request.entries or (USUAL,):
        if entry.from_file:
            _require_inside(entry, request)
        discovered = _discovered(entry, request)
        here: list[Suite] = []
        for path in discovered.files:
            if path.resolve() in known_paths:
                continue  # named twice, by pattern or link: it is one suite
            known_paths.add(path.resolve())
            try:
                suite = _load(path, entry, request)
            except UnrecognisedSuite as error:
                if path in discovered.optional:
                    what = str(error) if isinstance(error, OtherFormat) else display_path(path, request.repository)
                    notices.append(f"skipped: not a suite file: {what}")
                else:
                    broken += error.problems
            except InvalidSuite as error:
                broken += error.problems
            else:
                beside = path.name.startswith(("report", "health", "_"))  # what a tool wrote beside samples
                if discovered.folder is not None and suite.dialect == eval_samples.NAME and beside:
                    notices.append(f"skipped by its name: {display_path(path, request.repository)}")
                    continue
                if entry is USUAL and (why := _not_measurable(suite, request)) is not None:
                    notices.append(f"not run: {display_path(path, request.repository)}: {why}")
                    continue
                here.append(suite)
                files += [path, *suite.files]
        suites += (
            here
            if discovered.folder is None
            else _samples_together(here, display_path(discovered.folder, request.repository))
        )
        if discovered.ignored:  # seen, and not run
            names = [display_path(path, request.repository) for path in discovered.ignored]
            notices.append(f"also found, not run: {first_of(names, _MOST_SHOWN)} (--all runs them)")
    suites = _named_apart(_skill_cases_together(suites))
    suites = _with_warnings(suites, [*_almost_gated(suites), *_first_of_each(suites, _is_placeholder, _UNCHANGED)])
    broken += [problem for suite in suites if suite.errors for problem in suite.problems]
    suites, problems = _with_target(suites, request)
    broken += problems
    return LoadedSuites(suites=tuple(suites), notices=tuple(notices), files=tuple(files)), broken


def _not_measurable(suite: Suite, request: LoadRequest) -> str | None:
    """Why a suite that was found, and not named, is left out: its checks would all be errored."""
    if request.everything or request.traits.reports_skills:
        return None
    reason = f"it asks which skill is loaded, which an agent reports, and no target of type {request.target_type}"
    return reason if agent_skills.is_trigger_suite(suite) else None


def _with_target(suites: list[Suite], request: LoadRequest) -> tuple[list[Suite], list[FileProblem]]:
    """(the suites with warnings, the problems) that the target makes of what is in them."""
    if request.evaluate_only:
        return suites, list(_without_response(suites))
    problems: list[FileProblem] = []
    if not request.traits.plays_workspaces:
        lacking = _without_workspace(suites)
        if request.target_type is None:  # it may be a coding agent yet
            suites = _with_warnings(suites, lacking)
        else:
            problems += lacking
    if not request.traits.takes_cwd:
        message = f"cwd is for command targets; the {request.target_type} target does not get it"
        suites = _with_warnings(suites, list(_first_of_each(suites, lambda case: case.cwd is not None, message)))
    if request.sends_prompts:
        problems += prompt_problems(suites, request.template, lambda case: is_selected(case, request.selection))
    return suites, problems


def _without_response(suites: Sequence[Suite]) -> Iterator[FileProblem]:
    """The first turn of each suite without an answer to score, and how many there are."""
    for suite in suites:
        turns = [(case, turn) for case in suite.cases for turn in case.turns if turn.recorded is None]
        for case, turn in turns[:1]:
            message = (
                f"has no response to score ({plural(len(turns), 'turn')} in all); --evaluate-only needs one on "
                "each, of rows in the column that `columns: {response: …}` names; or play a file of answers: "
                "--target recorded:FILE"
            )
            yield FileProblem(location=turn.location or case.location, pointer="", message=message)


def _without_workspace(suites: Sequence[Suite]) -> list[FileProblem]:
    """The checks that look at a workspace of cases that have none, each with the first of these cases."""
    cases = [case for suite in suites for case in suite.cases if case.workspace is None and not case.files]
    lacking = [check for check in _checks_of(cases) if _looks_at_workspace(check[2])]
    problems = (_of_check(check, _NO_WORKSPACE.format(check[0].key)) for check in lacking)
    return [first for first, *_ in grouped((problem.location, problem) for problem in problems).values()]


def _first_of_each(
    suites: Sequence[Suite], applies: Callable[[Case], bool], message: str
) -> Iterator[FileProblem]:
    """A problem at the first case of each suite to which it applies; `{}` in the message is how many there are."""
    for suite in suites:
        if cases := list(filter(applies, suite.cases)):
            text = message.format(plural(len(cases), "case"))
            yield FileProblem(location=cases[0].location, pointer="", message=text)


def _almost_gated(suites: Sequence[Suite]) -> Iterator[FileProblem]:
    """The categories that are written otherwise than one with a gate, each with its first case."""
    gated = {name for name, _ in CATEGORY_GATES}
    for suite in suites:
        first = {case.category: case for case in reversed(suite.cases) if case.category is not None}
        for category in sorted(first.keys() - gated):
            name = re.sub("[^a-z]", "", category.casefold())
            if (alike := next((each for each in gated if name in (each, f"{each}s")), None)) is not None:
                message = f"the category '{category}' has no gate; did you mean '{alike}'?"
                yield FileProblem(location=first[category].location, pointer="", message=message)


def _is_placeholder(case: Case) -> bool:
    prompts = [turn.prompt for turn in case.turns[:1]]
    if any(str(text).startswith(PLACEHOLDER) for text in (*prompts, case.metadata.get("notes"))):
        return True
    return bool(case.variables) and PLACEHOLDER in case.variables.values()


def _looks_at_workspace(spec: EvaluatorSpec) -> bool:
    try:
        return catalogue.find(spec.name).needs_workspace or any(map(_looks_at_workspace, spec.children))
    except UnknownEvaluator:  # reported by its suite
        return False


def _with_warnings(suites: Sequence[Suite], problems: Sequence[FileProblem]) -> list[Suite]:
    """The suites, each with its own of these problems as warnings."""
    warnings = grouped((str(problem.location.file), replace(problem, level="warning")) for problem in problems)
    return [replace(suite, problems=(*suite.problems, *warnings.get(suite.path, ()))) for suite in suites]


def prompted_suites(suites: Sequence[Suite], request: LoadRequest) -> tuple[Suite, ...]:
    """The suites with the prompts that the target is sent. Raises InvalidSuite for cases that it cannot be."""
    if not request.sends_prompts:
        return tuple(suites)
    suites = with_workspaces(suites, always=request.traits.works_in_folders)
    suites = [_with_files(suite, request) for suite in suites]
    return with_prompts(suites, request.template, lambda case: is_selected(case, request.selection))


def _with_files(suite: Suite, request: LoadRequest) -> Suite:
    """The suite; cases with files are errored if the target has no working folder that they are put into."""
    if request.traits.takes_files:
        return suite

    def refused(case: Case) -> Case:
        reason = f"the {request.target_type} target is not given the case's files ({', '.join(case.files)})"
        wrong = Problem(code="file_missing", message=reason)
        return replace(case, problem=wrong) if case.files and case.problem is None else case

    return replace(suite, cases=tuple(map(refused, suite.cases)))


def _load(path: Path, entry: SuiteEntry, request: LoadRequest) -> Suite:
    """One file → suite. Raises InvalidSuite, for a link of the repository that leads out of it too."""
    if Path(os.path.normpath(path)).is_relative_to(request.repository) or entry.from_file:
        _require_own(path, request)
    return load(path, display_path(path, request.repository), _options(entry, request))


def _require_inside(entry: SuiteEntry, request: LoadRequest) -> None:
    """Raises InvalidSettings for a path of the settings file that leads out, before it is looked for."""
    absolute = Path(os.path.normpath(entry.base / entry.path))
    roots = (request.repository, request.repository.resolve())
    reason = "is git's own" if is_of_git(absolute, request.repository) else ""
    if not any(map(absolute.is_relative_to, roots)):
        reason = "lies outside the repository"
    if reason:
        raise InvalidSettings(f"suites: {entry.path} {reason}; suites elsewhere are named on the command line")


def _require_own(path: Path, request: LoadRequest) -> None:
    """Raises InvalidSuite for what a link makes of a file of the repository."""
    real, root = path.resolve(), request.repository.resolve()
    if real.is_relative_to(root) and not is_of_git(real, root):
        return
    reason = "leads to git's own files" if real.is_relative_to(root) else "leads out of the repository"
    raise unreadable(str(path), f"{reason} by a link; put the suite itself here", rule="meaning")


def _samples_together(suites: Sequence[Suite], folder: str) -> list[Suite]:
    """The files of samples in one folder are one suite, named for it also where there is but one of them yet."""
    samples = [suite for suite in suites if suite.dialect == eval_samples.NAME]
    rest = [suite for suite in suites if suite.dialect != eval_samples.NAME]
    return [*rest, eval_samples.together(samples, folder)] if samples else rest


def _skill_cases_together(suites: Sequence[Suite]) -> list[Suite]:
    """Files of skill cases that lie in the folders of one root are one suite."""
    of_skills = [suite for suite in suites if suite.dialect == skill_cases.NAME]
    places = [suite.path.rpartition("/")[0].rpartition("/") for suite in of_skills]
    gated = {folder for folder, _, name in places if name in skill_cases.CATEGORIES}
    roots = grouped(
        ((folder or ".") if folder in gated else suite.path, suite)
        for suite, (folder, _, _) in zip(of_skills, places, strict=True)
    )
    suites_ = [
        joined_suites(members, root, skill_cases.NAME) if root != members[0].path else members[0]
        for root, members in roots.items()
    ]
    return [*(suite for suite in suites if suite.dialect != skill_cases.NAME), *suites_]


def _named_apart(suites: Sequence[Suite]) -> list[Suite]:
    """Two skills of one name are distinguished by the folders of their suites."""
    counts = Counter(suite.name for suite in suites)
    return [
        replace(suite, name=f"{suite.name} ({suite.path.rpartition('/')[0] or '.'})")
        if counts[suite.name] > 1
        else suite
        for suite in suites
    ]


def display_path(path: Path, repository: Path) -> str:
    """A suite's name: its path relative to the repository's root, with forward slashes."""
    absolute, root = path.resolve(), repository.resolve()
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else str(path)


def without_model(suites: Sequence[Suite]) -> list[str]:
    """The cases that name no model of their own."""
    return [f"{suite.path}: {case.key}" for suite in suites for case in suite.cases if case.model is None]


def dry_run_evaluators(plan: RunPlan, sandbox: ScriptRunner) -> None:
    """Tries what evaluators bring along before anything is sent. Raises InvalidSuite with every fault."""
    if problems := unusable_evaluators(plan.cases, sandbox):
        raise InvalidSuite(problems)


def unusable_evaluators(cases: Iterable[Case], sandbox: ScriptRunner) -> list[FileProblem]:
    """Definitions of evaluators that cannot be used; those that cannot be built are reported by their suite."""
    rehearsals: dict[tuple[str, str, str], tuple[Call, _Check]] = {}
    for check in _checks_of(cases):
        call = _rehearsal(check[2], check[1])
        if call is not None and not sandbox.is_quick(call):  # a pattern that is read here is valid
            rehearsals.setdefault((call.kind, call.code, str(call.arguments)), (call, check))
    problems = (
        _of_check(check, f"cannot be used: {answer.reason}", "evaluator-unusable")
        for answer, check in [(sandbox.run(call), check) for call, check in rehearsals.values()]
        if answer.error is not None
    )
    return list(dict.fromkeys(problems))


def _checks_of(cases: Iterable[Case]) -> Iterator[_Check]:
    return ((case, turn, spec) for case in cases for turn in case.turns for spec in turn.checks)


def _of_check(check: _Check, message: str, rule: str = "meaning") -> FileProblem:
    """The problem at a check, or at its turn or case if it has no place of its own."""
    case, turn, spec = check
    return FileProblem(
        location=spec.location or turn.location or case.location,
        pointer="" if spec.location is None else spec.location.pointer,
        message=f"{spec.id or spec.name} {message}",
        rule=rule,
    )


def _rehearsal(spec: EvaluatorSpec, turn: Turn) -> Call | None:
    """What shows whether code that an evaluator brings along can be used."""
    try:
        evaluator = catalogue.build(spec).evaluator
    except (InvalidOptions, UnknownEvaluator):
        return None
    return evaluator.rehearsal(turn.expected) if isinstance(evaluator, Scripted) else None


def _options(entry: SuiteEntry, request: LoadRequest) -> LoadOptions:
    templates = (request.template, *request.other_templates)
    return LoadOptions(
        evaluators=options_by_name([*request.evaluators]) or entry.evaluators,
        variables=tuple(name for template in filter(None, templates) for name in variables_of(template)),
        columns=entry.columns,
        only_prompts=request.evaluate_only or request.traits.sends_only_prompts,
        evaluate_only=request.evaluate_only,
        definitions=request.definitions,
        root=request.repository,
    )
