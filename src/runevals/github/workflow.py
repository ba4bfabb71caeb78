"""The workflow that gates the projects of a repository: what it gates, and the steps that we write."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from itertools import chain
from pathlib import Path

from runevals.lib.parsing.source import read_text
from runevals.lib.storage.files import relative_name, write_whole
from runevals.lib.terminal import notice
from runevals.lib.text.numbers import phrase, short_list
from runevals.models.chat.providers import PROVIDERS
from runevals.models.http.origin import OPENAI_URL
from runevals.records.errors import InvalidSettings, NoSuiteFound, RunevalsError
from runevals.repository import git
from runevals.repository.git_changes import Changes
from runevals.repository.trees import CannotFollow
from runevals.run.baseline.dependencies import paths_inside
from runevals.run.load import suites_of
from runevals.run.project_folders import Project, projects_in
from runevals.run.projects import settings_of
from runevals.run.provenance import endpoints
from runevals.settings.places import PLACES
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.suites.discover import looked_at
from runevals.targets.agents.agent import Agent, install
from runevals.targets.agents.settings import AgentTargetSettings
from runevals.version import ACTION_REF

WORKFLOW = Path(".github", "workflows", "evals.yml")
EXISTS, WRITTEN = "already exists, skipped", "written"
_OF_GATE, _OF_RUN = {"baseline", "columns", "gates", "rerun"}, {"suites", "target", "targets"}
_OURS = re.compile(r"\buses:.*\brunevals(?:/container)?@|\brun:(?s:.)*\brunevals\b")
_INPUT = re.compile(r"\b(run|mode|config|results|all_projects): *['\"]?([^'\"}\s]*[^'\"}\s,])")
_PASSED_ON = re.compile(r"^          (\w+): \$\{\{ (?:secrets|vars)\.\1 \}\}$", re.MULTILINE)
_NEEDED = re.compile(rf"^      - run: .*|{_PASSED_ON.pattern}", re.MULTILINE)
_ACTION = f"      - uses: runevals/runevals@{ACTION_REF} # zizmor: ignore[unpinned-uses]\n"
_STEP = re.compile(r"^      - .*\n", re.MULTILINE)
_REGARDLESS = "        if: ${{ !cancelled() }} # one gate stops no other\n"
_A_KEY = "  OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}"
_STEPS = json.loads(files(__package__).joinpath("steps.json").read_text(encoding="utf-8"))
# Another tool → the command that runs it in a job, what it writes, and how a job installs it if it must.
GATED: Mapping[str, Sequence[str]] = _STEPS["gated"]
# The files that say what a program needs, and how a job installs it; of each language, the first that is there.
_PACKAGES: Sequence[Mapping[str, str]] = _STEPS["packages"]
_RUNS_CODE: Mapping[str, int] = {"python": 1, "command": 2, "": 3}  # a target, or a tool → how many it needs


def write_workflow(settings: Settings, tool: str = "") -> tuple[str, str]:
    """Writes the steps that gate this project: by the results of a tool, or a run of all projects.

    They join steps of ours; a workflow with anything else is left as it is.

    Returns what became of the file, empty if it lacks the steps; and the steps.
    """
    path, branch = settings.repository / WORKFLOW, plain(git.default_branch(settings.repository))
    before = head = files(__package__).joinpath("evals.yml").read_text(encoding="utf-8").replace("BRANCH", branch)
    with suppress(FileNotFoundError):
        before = path.read_text(encoding="utf-8", errors="replace").replace(_REGARDLESS, "")
    projects = {**dict(projects_of(settings)), settings_path(settings): settings}
    others = {name: one for name, one in projects.items() if one is not settings and not gate_command(one)}
    runs, variables = {**others, settings_path(settings): settings}, _PASSED_ON.findall(before)
    steps = _gate(settings, tool) if tool else _run(runs, chain(variables, *map(variables_of, runs.values())))
    if steps in before:
        return EXISTS, steps
    some = filter(None, (runs, others, *({name: one} for name, one in runs.items())))
    without_runs = _without(before, (_run(few, variables) for few in some))
    if _without(without_runs, (_gate(one, of_tool) for one in projects.values() for of_tool in GATED)) != head:
        return "", steps
    first, action, others_of_job = ((before if tool else without_runs) + steps).partition(_ACTION)
    write_whole(path, first + action + _STEP.sub(rf"\g<0>{_REGARDLESS}", others_of_job))
    return WRITTEN if before == head else "extended", steps


def lacking(steps: str, path: Path) -> list[str]:
    """The lines of these steps that install what a run needs, or pass on its keys, and that a workflow lacks."""
    there = path.read_text(encoding="utf-8", errors="replace")
    return [line[0] for line in _NEEDED.finditer(steps) if line[0].strip() not in there]


def _without(text: str, steps: Iterable[str]) -> str:
    for one in sorted(steps, key=len, reverse=True):  # one may begin like another
        text = text.replace(one, "")
    return text


def projects_of(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """The projects of the repository that can be read, by their settings files."""
    raw = RawSettings(cwd=settings.repository, environment=settings.environment)
    with suppress(RunevalsError):
        for project in projects_in(settings.repository):
            with suppress(RunevalsError):
                yield project.config, resolve(settings_of(project, raw))


def _gate(settings: Settings, tool: str) -> str:
    """Steps that run another tool, and gate what it writes."""
    folder, (command, results, *own) = folder_of(settings), GATED[tool]
    before = _commands((*installs(settings.cwd, ""), *own, command), folder)
    keys = f"        # env:\n        # {_A_KEY}\n"
    config = "" if folder == "." else f", config: {json.dumps(settings_path(settings))}"
    inputs = f"mode: gate, results: {json.dumps(posixpath.normpath(f'{folder}/{results}'))}{config}"
    return f"{before}{keys}{_ACTION}        with: {{{inputs}}}\n"


def _run(projects: Mapping[str, Settings], variables: Iterable[str]) -> str:
    """Steps that run the suites of these projects; the variables hold the keys of targets and judges."""
    first, *others = projects
    inputs = ["all_projects: true"] if others else [] if first in PLACES else [f"config: {json.dumps(first)}"]
    names = list(dict.fromkeys(variables))
    if any(map(is_secret, names)):
        inputs.append("require_credentials: true # a fork's change has no keys: it fails until it is measured")
    passed_on = [f"  {name}: ${{{{ {'secrets' if is_secret(name) else 'vars'}.{name} }}}}" for name in names]
    step = ["with:", *(f"  {line}" for line in inputs)] if inputs else []
    example = ["# env: what your program needs and `target.env` names, such as", f"# {_A_KEY}"]
    step += ["env:", *passed_on] if names else example
    before = dict.fromkeys(map(_installs, projects.values()))
    return "".join([*before, _ACTION, *(f"        {line}\n" for line in step)])


def _installs(settings: Settings) -> str:
    """The steps that install the agent, or the packages of the program under test."""
    target = settings.target
    if agent := _agent_of(target):
        return _commands((install(agent),), ".")
    return "" if target is None else _commands(installs(settings.cwd, target.type), folder_of(settings))


def _agent_of(endpoint: object) -> Agent | None:
    return endpoint.command_line if isinstance(endpoint, AgentTargetSettings) else None


def installs(folder: Path, target_type: str) -> tuple[str, ...]:
    """The commands by which a job installs the packages of a program under test; without one, of a tool."""
    kinds = _PACKAGES[: _RUNS_CODE.get(target_type, 0)]
    lines = [[line for name, line in kind.items() if (folder / name).is_file()] for kind in kinds]
    return tuple(line for of_kind in lines for line in of_kind[:1])


def _commands(lines: Sequence[str], folder: str) -> str:
    """Steps of a job that run commands in a folder of the repository."""
    where = "" if folder == "." else f"        working-directory: {json.dumps(folder)}\n"
    return "".join(f"      - run: {line}\n{where}" for line in lines)


def plain(branch: str | None) -> str:
    """The branch's name, unless YAML or a shell could read more in it."""
    return next(iter(re.findall(r"\A[A-Za-z0-9][\w./-]*\Z", branch or "main", re.ASCII)), "main")


def settings_path(settings: Settings) -> str:
    """The settings file that is there or will be, relative to the repository's root."""
    return relative_name((settings.file_path or settings.cwd / PLACES[0]).resolve(), settings.repository.resolve())


def folder_of(settings: Settings) -> str:
    """The folder of the project, relative to the repository's root."""
    return relative_name(settings.cwd.resolve(), settings.repository.resolve())


def variables_of(settings: Settings) -> list[str]:
    """The variables that a workflow passes on for a project."""
    names, has = list[str](), settings.environment.get
    for endpoint in endpoints(settings):
        if agent := _agent_of(endpoint):
            names += (next(filter(has, agent.keys), agent.keys[0]), *filter(has, agent.places))
        elif endpoint.is_model:
            provider = PROVIDERS[endpoint.type]
            if provider.needs_key or has(endpoint.api_key_env):
                names.append(endpoint.api_key_env)
            if provider.located_by is not None and (endpoint.base_url or OPENAI_URL) != provider.url:
                names.append(provider.located_by)
    return list(dict.fromkeys(names))


def is_secret(name: str) -> bool:
    """Whether a variable holds a key, not an address."""
    return name.endswith(("_KEY", "_TOKEN")) or name in {provider.key for provider in PROVIDERS.values()}


def not_gated(repository: Path) -> Iterator[str]:
    """A sentence on the projects that these workflows leave out, with the line that adds them.

    None if that cannot be read from the workflows: a matrix, a command line.
    """
    steps, missing = list(steps_in(repository)), list[Project]()
    gated = {inputs.get("config", ".").removeprefix("./") for _, inputs in steps}
    if any("${{" in config for config in gated) or any({"run", "all_projects"} & one.keys() for _, one in steps):
        return
    with suppress(RunevalsError):  # there are no projects
        missing += [one for one in projects_in(repository) if gated.isdisjoint({one.name, one.config})]
    runs, tools = list[Project](), list[Project]()
    for one in missing if steps else ():
        (runs, tools)[bool(_gated_by(settings_of(one, RawSettings(cwd=repository))))].append(one)
    for file, inputs in steps[:1] if runs else ():
        replaced = phrase("config" in inputs, " in place of config:")
        way = f"under with: of the step of runevals, write all_projects: true{replaced}"
        step = f"add a step: - {{uses: runevals/runevals@{ACTION_REF}, with: {{config: {runs[0].config}}}}}"
        one_runs = sum("mode" not in inputs for _, inputs in steps) == 1
        yield f"not gated: {short_list([one.name for one in runs])}; in {file}, {way if one_runs else step}"
    if tools:
        yield f"not gated: {short_list([one.name for one in tools])}; in its folder: runevals init --gate TOOL"


def gate_command(settings: Settings) -> str:
    """The command that gates this project, if it has only results of another tool; else empty."""
    side = settings.base_side
    keys = {*settings.file_values, *(side.values if side else ())}
    if _OF_RUN & keys:
        return ""
    with suppress(RunevalsError):
        try:
            suites_of(settings)
        except NoSuiteFound:
            results = chain(_gated_results(settings), _stated(settings) if _OF_GATE & keys else ())
            return phrase(next(results, ""), "runevals gate {}")
    return ""


def _stated(settings: Settings) -> Iterator[str]:
    """What settings of a gate say of results, unless the change removes the suites: those must still run."""
    side, places = settings.base_side, [path for path in looked_at(settings.cwd, None) if path.name not in PLACES]
    with suppress(CannotFollow):
        suites = paths_inside(settings.repository, patterns=places)
        if side is None or not Changes(settings.repository, side.commit).among(suites):
            yield "RESULTS"


def to_run(projects: Iterable[tuple[Project, RawSettings]]) -> Sequence[tuple[Project, RawSettings]]:
    """The projects that have something to run; says how the others are gated.

    Raises InvalidSettings if none has. One whose settings cannot be read says so when it is run.
    """
    runs = []
    for project, raw in projects:
        if gate := _gated_by(raw):
            notice(f"{project.name}: nothing to run, its results are gated by {gate}")
        else:
            runs.append((project, raw))
    if not runs:
        raise InvalidSettings("no project here has anything to run: their results are gated")
    return runs


def _gated_by(raw: RawSettings) -> str:
    with suppress(RunevalsError, FileNotFoundError):  # the change removes its folder
        return gate_command(resolve(raw))
    return ""


def _gated_results(settings: Settings) -> Iterator[str]:
    """The results of another tool that workflows gate for this project, as seen from here."""
    own = (folder_of(settings), settings_path(settings))
    for _, inputs in steps_in(settings.repository):
        if "results" in inputs and inputs.get("config", ".") in own:
            paths = (settings.repository / name for name in inputs["results"].split(","))
            yield " ".join(os.path.relpath(path, settings.cwd) for path in paths)


def steps_in(repository: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The workflow and the inputs of each step that runs the action or, with `run`, a command of ours."""
    for path in sorted((repository / ".github/workflows").glob("*.y*ml")):
        with suppress(RunevalsError):
            for step in re.split(r"^\s*- ", read_text(path, path.name), flags=re.MULTILINE):
                if _OURS.search(step):
                    yield path.relative_to(repository).as_posix(), dict(_INPUT.findall(step))
