"""The steps of `runevals init`: detection, questions, files."""

from __future__ import annotations

import json
import keyword
import posixpath
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import click
from msgspec import Struct

from runevals.cli.compared_results import base_command
from runevals.cli.doctor.checks import NO_TARGET, what_lacks
from runevals.cli.init import templates as starter
from runevals.cli.init.prompt_file import PromptFile, first_prompt, only_prompt, prompt_file, target_beside
from runevals.cli.init.proposed_cases import proposed_cases
from runevals.cli.init.surroundings import judge_for, likely_target, other_tools
from runevals.cli.options import raw_settings, resolved_settings
from runevals.github import workflow
from runevals.lib.nullable import without
from runevals.lib.storage.files import behind_links, path_from, relative_name, write_whole
from runevals.lib.terminal import at_terminal, say
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase
from runevals.lib.text.variables import variables_in
from runevals.models.facts import model
from runevals.records import Suite
from runevals.records.agent import SKILL_SUITE, SKILL_TRIGGERS
from runevals.records.errors import InvalidSettings, NoSuiteFound, RunevalsError
from runevals.run.default_target import with_target
from runevals.run.live import judges_of
from runevals.run.load import suites_of
from runevals.run.project_folders import way_to_projects
from runevals.settings.file import SettingsFile, project_folder
from runevals.settings.places import PLACES, contents_here, settings_file_in
from runevals.settings.resolve import Settings, resolve
from runevals.settings.words import target_words
from runevals.suites.dialects.skill_folder import skill_of
from runevals.suites.load import PLACEHOLDER, LoadedSuites
from runevals.suites.skill_suites import SKILL, skill_folders, skill_suites
from runevals.targets.agents import AGENTS
from runevals.targets.kinds import KINDS
from runevals.targets.python import PythonSettings

DEFAULT_FUNCTION = "agent.py:answer"
_UNREADABLE = "cannot be read"
_MARKED = f"its cases are marked “{PLACEHOLDER}”"

File = tuple[Path, str]  # and what became of it


class Scaffold(Struct, frozen=True, kw_only=True):
    """The result: the options and suites of the first run or why it is not possible, and the next steps."""

    options: Mapping[str, str | None]
    paths: tuple[str, ...]
    why_not: str | None
    next_steps: tuple[str, ...]


def _in_place_of_those_above(options: Mapping[str, Any]) -> SettingsFile | None:
    """No settings, in a folder below a project that becomes one: by a target that is named, or a skill."""
    here, is_skill = Path.cwd(), Path(SKILL).is_file()
    if project_folder(here) == Path():
        return None
    is_own = options.get("target") or (is_skill and not _runs_skills(resolved_settings(options)))
    return SettingsFile(base=here) if is_own else None


def _runs_skills(settings: Settings) -> bool:
    return settings.target is not None and settings.target.traits.brings_skills


def own_project(options: Mapping[str, Any], prompt_name: str | None) -> Path | None:
    """Writes settings beside a prompt if those here send another one and none are there → that prompt."""
    settings = resolve(raw_settings(options), _in_place_of_those_above(options))
    prompt = prompt_file(settings, prompt_name, asks=False)
    folder, target = (settings.cwd / prompt.name).parent, target_beside(settings, prompt)
    if target is None or settings_file_in((folder,), PLACES, contents_here) is not None:
        return None
    judge, repeat = map(settings.file_values.get, ("judge", "repeat"))
    values = {"target": target, "judges" if isinstance(judge, list) else "judge": judge, "repeat": repeat}
    written = _write(folder / starter.SETTINGS, starter.starter_settings(values))
    say(f"{_line(written, settings.cwd)}, as the settings here send another prompt")
    return Path(prompt.name)


def begin(options: Mapping[str, Any], name: str | None, *, github: bool, asks: bool, here: Path) -> Scaffold:
    """Writes the missing files and prints their names, as seen from `here`: elsewhere if the settings are new.

    Raises InvalidSettings, or InvalidSuite for a suite that is there, before anything is written.
    """
    no_file = _in_place_of_those_above(options)
    before = resolve(raw_settings(options), no_file)  # fails here for an invalid target or judge
    if github and "${{" in (path := workflow.settings_path(before)):
        raise InvalidSettings(f"{one_line(path, 120)}: GitHub would evaluate what '${{{{' begins; rename it")
    asks, is_new = asks and at_terminal(), before.file_path is None
    asks_for_file = asks and is_new
    prompt = prompt_file(before, name, asks=asks_for_file)
    if not (prompt.name or asks_for_file):
        prompt = _prompt_of(_suites(before).suites, before)
    paths = (prompt.name,) if prompt.is_suite else ()
    before = resolve(raw_settings(options, paths=paths), no_file)
    loaded = _suites(before)
    if target_beside(before, prompt) is not None:
        which = f"the settings here send another prompt than {prompt.name}, which its cases would test: "
        raise InvalidSettings(
            which + "run init where the settings send it, or move it to a folder without settings"
        )
    target: str | None = options.get("target")
    if before.target is None:
        implied = with_target(before, loaded.suites)  # by the suites
        if implied.target is not None:
            target = "skill" if _runs_skills(implied) else None
        else:
            target = _asked_target() if asks else likely_target(before.environment, has_skill=prompt.is_skill)
    prompt = prompt.read_by(resolve(raw_settings({**options, "target": target}), no_file))
    prompt_settings = prompt.settings(target)
    judge: str | None = options.get("judge") or (None if before.judges or before.no_judge else judge_for(target))
    raw = raw_settings({**options, "judge": judge, "target": prompt_settings.get("target", target)}, paths=paths)
    settings = resolve(raw, no_file)
    if _runs_skills(settings) and not loaded.suites:
        raise InvalidSettings(
            "skills have their own cases, which init does not write: put the first into "
            "evals/regression/NAME.json, then run init again"
        )
    values = {"target": target, "judge": judge, **prompt_settings}
    if no_file is not None:
        say("The settings above are those of another project: this folder becomes one, too")
    has_cases = not prompt.is_skill or _skill_suite(settings, prompt).exists()
    for reader in prompt.readers:
        say(f"– {prompt.name}: {reader} names it, so the settings do not send it as well")
    for file in _written(settings, values, loaded.files, prompt, is_own=here != settings.cwd):
        say(_line(file, here))
    if github:
        for line in _workflow(settings, here):
            say(line)
    lacking = what_lacks(settings, raw)
    of_run = {} if is_new else {"target": target, "judge": judge}  # a new settings file names them
    is_starter, now = prompt.name and not (loaded.suites or prompt.is_suite), resolved_settings(of_run)
    with suppress(RunevalsError):  # the run says it
        loaded = _suites(now)
    ways = {NO_TARGET: _sending(prompt)}
    first = [*_not_named(now, loaded, prompt, target)]
    first += [f"  for the {one.name}: {ways.get(one.text) or one.fix}" for one in lacking]
    by_default = phrase(not prompt.is_skill, "; `default_evaluators` check each, too")
    marked = phrase(is_starter, f", instead of those marked “{PLACEHOLDER}”{by_default}")
    first.append(f"  put your own cases into the suite{marked}, then: {_there(settings, here, 'runevals')}")
    first += _next_skill(now, loaded.suites, here)
    return Scaffold(
        options=of_run,
        paths=paths,
        why_not=next((one.text for one in lacking), None if has_cases else _MARKED),
        next_steps=tuple(_next_steps(settings, prompt, first, here, github=github)),
    )


def _prompt_of(suites: Sequence[Suite], settings: Settings) -> PromptFile:
    """The first prompt if there are no suites; without settings, the only one, or the skill of all."""
    match [*{suite.skill for suite in suites}]:
        case []:
            return first_prompt(settings)
        case [None] if settings.file_path is None:
            return only_prompt(settings)
        case [Path() as skill] if settings.file_path is None:
            return prompt_file(settings, path_from(skill / SKILL, settings.cwd), asks=False)
    return PromptFile()


def begin_below(options: Mapping[str, Any], name: str | None, *, github: bool) -> Iterator[str]:
    """What to run in a folder that is no project and has some below; with `github`, also writes their workflow."""
    settings = resolved_settings(options)
    way = way_to_projects(settings.cwd)
    if not way or any((name, options.get("target"), settings.file_path)):
        return
    if _suites(settings).suites or first_prompt(settings).name:
        return
    settings = next((one for _, one in workflow.projects_of(settings)), settings)
    yield from _workflow(settings, Path.cwd()) if github else ()
    yield from (way.replace("\n", "No settings written: "), "\nNext")
    yield "  begin a project here too: runevals init --target TARGET"
    yield from _on_pull_requests(settings, github=github)


def begin_gate(tool: str) -> Iterator[str]:
    """Writes a workflow that runs another tool, and gates its results; the lines to print."""
    settings, (command, results, *_) = resolved_settings({}), workflow.GATED[tool]
    if settings.file_path is None and settings.cwd != settings.repository:  # beside it is what is accepted
        yield _line(_write(settings.cwd / starter.SETTINGS, "version: 1\n"), settings.cwd)
        settings = resolved_settings({})
    line, *steps = _workflow(settings, settings.cwd, tool)
    gitignore = _ignore(settings, posixpath.normpath(f"/{workflow.folder_of(settings)}/{results}"))
    yield from (line, _line(gitignore, settings.cwd), "\nNext", *steps)
    where = path_from(settings.repository / workflow.WORKFLOW, settings.cwd)
    yield f"  check the command that runs {tool}, and name its keys, in {where}"
    yield f"  try it here: {command}; runevals gate {results}"
    yield "  commit it: the first run on the default branch stores what pull requests are compared with"


def _workflow(settings: Settings, here: Path, tool: str = "") -> Iterator[str]:
    """Writes the workflow; what became of it, and what to do if it is another's."""
    path, (state, steps) = settings.repository / workflow.WORKFLOW, workflow.write_workflow(settings, tool)
    yield _line((path, state or workflow.EXISTS), here)
    gates_others = not tool and any(workflow.steps_in(settings.repository))  # of this project, it says so
    lines = workflow.lacking(steps, path) if gates_others else steps.splitlines()
    if not state and lines:
        yield from (f"  add these steps to a job of {path_from(path, here)}:", *lines)


def suite_wanted(settings: Settings) -> bool:
    """Offers a starter suite at a terminal → whether it was written."""
    if not at_terminal():
        return False
    say("⚠️  No prompts file found in current directory or ./evals/\n")
    question = "Create a starter evals file with sample prompts? (Y/n)"
    if not click.confirm(question, default=True, show_default=False):
        return False
    say(_line(_starter(settings), settings.cwd))
    return True


def _starter(settings: Settings, items: Sequence[Mapping[str, object]] = (), names: Sequence[str] = ()) -> File:
    """`names`: the variables of the prompt."""
    judged = bool(judges_of(settings))
    text = starter.proposed_suite(items, judged=judged) if items else starter.starter_suite(names, judged=judged)
    return _write(settings.cwd / starter.SUITE, text)


def _suites(settings: Settings) -> LoadedSuites:
    """The suites that a run would find. Raises NoSuiteFound only if the settings name them."""
    try:
        return suites_of(settings)
    except NoSuiteFound:
        if settings.load.suites:
            raise
        return LoadedSuites(suites=())


def _written(
    settings: Settings, values: Mapping[str, Any], suites: Sequence[Path], prompt: PromptFile, *, is_own: bool
) -> Iterator[File]:
    cwd, is_skill = settings.cwd, prompt.is_skill
    items = [] if suites and not is_skill else proposed_cases(prompt.text, prompt.name)
    if is_skill:
        yield from _skill_files(settings, prompt, [str(item["expected_response"]) for item in items])
    else:
        yield (suites[0], workflow.EXISTS) if suites else _starter(settings, items, variables_in(prompt.text))
    program = list(_program(settings, items))
    yield from program
    if settings.file_path is None:
        names = [relative_name(path, cwd) for path in suites] or [starter.SUITE.as_posix()]
        values = {"suites": None if is_skill or len(names) > 1 else names, **values}  # several are found
        if any(state == workflow.WRITTEN for _, state in program):  # in which every difference is a change
            values["target"] = {**target_words(values["target"]), "deterministic": True}
        elif settings.target is not None and not settings.target.deterministic:
            values["repeat"] = 3
        sent = without(prompt.settings("openai").get("target", {}), ("type",))
        yield _write(cwd / starter.SETTINGS, starter.starter_settings(values, sent))
    elif not is_own:
        yield settings.file_path, workflow.EXISTS
    yield _ignore(settings)


def _skill_suite(settings: Settings, prompt: PromptFile) -> Path:
    return (settings.cwd / prompt.name).parent / "evals" / SKILL_SUITE


def _skill_files(settings: Settings, prompt: PromptFile, statements: Sequence[str]) -> Iterator[File]:
    """The suite of a skill and, if the target may load skills, its trigger queries."""
    suite, target = _skill_suite(settings, prompt), settings.target
    name = skill_of(suite.parent, settings.repository, None).name
    yield _write(suite, starter.skill_suite(name, statements, judged=bool(judges_of(settings))))
    if target is None or target.traits.works_in_folders:
        yield _write(suite.with_name(SKILL_TRIGGERS[0]), starter.starter_text("trigger-evals.json"))


def _program(settings: Settings, items: Sequence[Mapping[str, object]]) -> Iterator[File]:
    """The Python file of a target, if it does not exist yet."""
    target = settings.target
    if not isinstance(target, PythonSettings):
        return
    name, _, function = target.function.rpartition(":")
    path = target.base / name
    usable = function.isidentifier() and not keyword.iskeyword(function)
    if name.endswith(".py") and usable and path.resolve().is_relative_to(settings.cwd.resolve()):
        yield _write(path, starter.starter_program(function, items))


def _write(path: Path, text: str) -> File:
    if path.exists() or path.is_symlink():
        return path, workflow.EXISTS
    write_whole(path, text)
    return path, workflow.WRITTEN


def _ignore(settings: Settings, *results: str) -> File:
    """Has git ignore what runs write here, and the results of another tool: in the repository's own list."""
    path, names = settings.repository / ".gitignore", (*starter.IGNORED, *results)
    before, state = "", workflow.WRITTEN
    try:
        with suppress(FileNotFoundError):
            before, state = path.read_bytes().decode("utf-8"), "added"
    except (OSError, UnicodeDecodeError):
        return path, f"{_UNREADABLE}; add {' and '.join(names)} to it"
    after = starter.ignoring(before, names, is_root=settings.cwd == settings.repository)
    if after == before:
        return path, workflow.EXISTS
    write_whole(behind_links(path), after)
    return path, f"{state} {', '.join(after[len(before) :].split())}"


def _line(file: File, here: Path) -> str:
    path, state = file
    mark = {workflow.EXISTS: "–", _UNREADABLE: "✗"}.get(state.partition(";")[0], "✓")
    return f"{mark} {path_from(path, here)}: {state}"


def _not_named(settings: Settings, loaded: LoadedSuites, prompt: PromptFile, target: str | None) -> Iterator[str]:
    """What to write into the settings file: its target may have more settings, and it may name other suites."""
    of_file, words = settings.file_values, target_words(target or {})
    in_file = target_words(of_file.get("target", {}))
    is_there, text = words.items() <= in_file.items(), cast("object", target)
    section = in_file if is_there else words
    suite = settings.cwd / prompt.name if prompt.is_suite else _skill_suite(settings, prompt)
    if (prompt.is_suite or prompt.is_skill) and suite.resolve() not in map(Path.resolve, loaded.files):
        paths = [entry.path for entry in settings.load.suites]
        paths = paths or [path_from(settings.repository / one.path, settings.file_base) for one in loaded.suites]
        names = json.dumps([*paths, path_from(suite, settings.file_base)], ensure_ascii=False)
        yield f"  name its suite in the settings file: suites: {names}"
    name = str(prompt.key(section)).removeprefix("target.")
    if name not in {*section, "None", "suites"}:
        is_there, text = False, {**section, name: prompt.name}
    if not is_there and "targets" not in of_file and target != "skill":
        yield f"  put into the settings file: target: {json.dumps(text, ensure_ascii=False)}"


def _sending(prompt: PromptFile) -> str:
    """How the prompt is sent, if no target is known."""
    sent = not prompt.is_skill and prompt.settings(f"openai:{model('openai')}").get("target")
    way = f"{json.dumps(sent, ensure_ascii=False)}, or another that sends or reads {prompt.name}"
    return phrase(sent and way, "put into the settings file: target: {}")


def _next_skill(settings: Settings, suites: Sequence[Suite], here: Path) -> Iterator[str]:
    """How the suite of a skill here without one is begun, if these suites are of skills."""
    tested = set(map(Path.resolve, filter(None, (suite.skill for suite in suites))))
    for skill in skill_folders(here) if tested else ():
        has_cases = skill.resolve() in tested or any(skill_suites(skill))
        if not has_cases and settings_file_in((skill,), PLACES, contents_here) in (None, settings.file_path):
            name = shlex.quote(relative_name(skill / SKILL, here))
            yield f"  begin the suite of the next skill: runevals init --prompt-file {name}"
            break


def _next_steps(
    settings: Settings, prompt: PromptFile, first: Sequence[str], here: Path, *, github: bool
) -> Iterator[str]:
    yield from ("\nNext", *first)
    yield from (f"  {line}" for line in other_tools(here))
    with_base = base_command(settings.repository)
    if with_base is not None:
        what = f"a change{phrase(prompt.name and path_from(settings.cwd / prompt.name, here), ' of {}')}"
        yield f"  once this is committed, see what {what} does: {_there(settings, here, with_base)}"
    if settings.cwd != here:
        yield "  run all projects: runevals --all-projects"
    yield from _on_pull_requests(settings, github=github)


def _there(settings: Settings, here: Path, command: str) -> str:
    """A command of the project, as it is typed here."""
    folder = path_from(settings.cwd, here)
    return command if folder == "." else f"(cd {shlex.quote(folder)} && {command})"


def _on_pull_requests(settings: Settings, *, github: bool) -> Iterator[str]:
    yield from (f"  {sentence}" for sentence in workflow.not_gated(settings.repository))
    if github:
        yield from _steps_on_github(settings)
    elif not (settings.repository / workflow.WORKFLOW).exists():
        yield "  run it on pull requests: runevals init --github"


def _steps_on_github(settings: Settings) -> Iterator[str]:
    places = {
        True: "secrets (Settings → Secrets and variables → Actions)",
        False: "variables, there too: an address that GitHub's runner reaches",
    }
    variables = workflow.variables_of(settings)
    for secret, place in places.items():
        names = " and ".join(name for name in variables if workflow.is_secret(name) is secret)
        yield from filter(None, [phrase(names, f"  add {{}} to the repository's {place}")])
    yield "  commit the files: the first run on the default branch stores what pull requests are compared with"


def _asked_target() -> str | None:
    say(starter.starter_text("question.txt").rstrip())
    match click.prompt("Choose", type=click.Choice(["1", "2", "3", "4", "5"]), default="1", show_choices=False):
        case "1":
            name: str = click.prompt("Model", default=model("openai"))
            return name if name.partition(":")[0] in KINDS else f"openai:{name}"
        case "2":
            return f"command:{click.prompt('Command, such as python my_agent.py')}"
        case "3":
            return f"python:{click.prompt('FILE.py:FUNCTION', default=DEFAULT_FUNCTION)}"
        case "4":
            agent: str = click.prompt("Agent", type=click.Choice(list(AGENTS)), default="claude-code")
            return agent
        case _:
            return None
