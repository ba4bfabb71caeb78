"""The steps of `runevals init`: detection, questions, files."""

from __future__ import annotations

import keyword
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from runevals.cli.compared_results import base_command
from runevals.cli.doctor.checks import what_lacks
from runevals.cli.init import templates as starter
from runevals.cli.init.prompt_file import PromptFile, first_skill, prompt_file, target_beside
from runevals.cli.init.proposed_cases import proposed_cases
from runevals.cli.init.surroundings import installs, judge_for, likely_target, other_tools
from runevals.cli.options import raw_settings, resolved_settings
from runevals.lib.storage.files import behind_links, relative_name, write_whole
from runevals.lib.terminal import at_terminal, say
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase
from runevals.lib.text.variables import variables_in
from runevals.models.chat.providers import PROVIDERS
from runevals.models.facts import model
from runevals.models.http.origin import OPENAI_URL
from runevals.records.agent import SKILL_SUITE, SKILL_TRIGGERS
from runevals.records.diagnosis import Diagnosis
from runevals.records.errors import InvalidSettings, NoSuiteFound
from runevals.repository import git
from runevals.run.default_target import with_target
from runevals.run.load import suites_of
from runevals.run.provenance import endpoints
from runevals.settings.places import PLACES, contents_here, settings_file_in
from runevals.settings.resolve import Settings, resolve
from runevals.settings.words import target_words
from runevals.suites.dialects.skill_folder import skill_of
from runevals.suites.load import PLACEHOLDER, LoadedSuites
from runevals.suites.skill_suites import SKILL, skill_folders, skill_suites
from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import Agent, install
from runevals.targets.agents.settings import AgentTargetSettings
from runevals.targets.python import PythonSettings

DEFAULT_FUNCTION = "agent.py:answer"
_WRITTEN = "✓ "
_MARKED = f"its cases are marked “{PLACEHOLDER}”"
_QUESTION = """What do your prompts run against?
  1  a chat model: MODEL of any OpenAI-compatible API, anthropic:MODEL, gemini:MODEL, ollama:MODEL …
  2  a program of yours: prompt as JSON on stdin, answer on stdout
  3  a Python function of yours: answer(prompt, messages, case)
  4  a coding agent: Claude Code, Codex, Copilot, Gemini
  5  I do not know yet"""


class Scaffold(Struct, frozen=True, kw_only=True):
    """The result: target and judge for the first run or why it is not possible, and the next steps."""

    target: str | None
    judge: str | None
    why_not: str | None
    next_steps: tuple[str, ...]


def own_project(options: Mapping[str, Any], prompt_name: str | None) -> Path | None:
    """Writes settings beside a prompt if those here send another one and none are there → that prompt."""
    settings = resolved_settings(options)
    prompt = prompt_file(settings, prompt_name, asks=False)
    folder, target = (settings.cwd / prompt.name).parent, target_beside(settings, prompt)
    if target is None or settings_file_in((folder,), PLACES, contents_here) is not None:
        return None
    judge, repeat = map(settings.file_values.get, ("judge", "repeat"))
    values = {"target": target, "judges" if isinstance(judge, list) else "judge": judge, "repeat": repeat}
    text = starter.starter_settings(values, repeats=False, is_starter=False)
    say(f"{_write(folder / starter.SETTINGS, text, settings.cwd)}, as the settings here send another prompt")
    return Path(prompt.name)


def begin(options: Mapping[str, Any], name: str | None, *, github: bool, asks: bool, is_own: bool) -> Scaffold:
    """Writes the missing files and prints their names. `is_own`: the settings were just written.

    Raises InvalidSettings, or InvalidSuite for a suite that is there, before anything is written.
    """
    before = resolved_settings(options)  # fails here for an invalid target or judge
    if github and "${{" in (path := _settings_path(before)):
        raise InvalidSettings(f"{one_line(path, 120)}: GitHub would evaluate what '${{{{' begins; rename it")
    asks = asks and at_terminal()
    is_new = before.file_path is None
    prompt = prompt_file(before, name, asks=asks and is_new)
    if prompt.is_suite:
        before = resolved_settings(options, paths=(prompt.name,))
    loaded = _suites(before)
    if not (prompt.name or loaded.suites or (asks and is_new)):
        prompt = first_skill(before)
    if target_beside(before, prompt) is not None:
        which = f"the settings here send another prompt than {prompt.name}, which its cases would test: "
        raise InvalidSettings(
            which + "run init where the settings send it, or move it to a folder without settings"
        )
    target: str | None = options.get("target")
    if before.target is None:
        if with_target(before, loaded.suites).target is not None:
            target = "skill"  # the target that these suites need
        else:
            target = _asked_target() if asks else likely_target(before.environment, has_skill=prompt.is_skill)
    prompt_settings = prompt.settings(target)
    judge: str | None = options.get("judge") or (None if before.judges or before.no_judge else judge_for(target))
    raw = raw_settings({**options, "judge": judge, "target": prompt_settings.get("target", target)})
    settings = resolve(raw)
    if settings.target is not None and settings.target.traits.brings_skills and not loaded.suites:
        raise InvalidSettings(
            "skills have their own cases, which init does not write: put the first into "
            "evals/regression/NAME.json, then run init again"
        )
    values = {"target": target, "judge": judge, **prompt_settings}
    has_cases = not prompt.is_skill or _skill_suite(settings, prompt).exists()
    for line in _written(settings, values, loaded.files, prompt, is_own=is_own):
        say(line)
    if github:
        say(_write(settings.repository / starter.WORKFLOW, _workflow(settings), settings.repository))
    is_named = is_new or target is None or _is_named(before.file_values, target)
    lacking = what_lacks(settings, raw)
    steps = _next_steps(settings, prompt, lacking, None if is_named else target, is_new=is_new, github=github)
    return Scaffold(
        target=None if is_new else target,  # a new settings file names it
        judge=None if is_new else judge,
        why_not=next((one.text for one in lacking), None if has_cases else _MARKED),
        next_steps=tuple(steps),
    )


def begin_gate(tool: str) -> Iterator[str]:
    """Writes a workflow that runs another tool, and gates its results; the lines to print."""
    settings = resolved_settings({})
    commands = (*installs(settings.cwd, "command"), starter.GATED[tool][0])
    branch, folder = git.default_branch(settings.repository), _folder(settings)
    if settings.file_path is None and folder != ".":  # beside it are the lists of what is accepted and quarantined
        yield _write(settings.cwd / starter.SETTINGS, "version: 1\n", settings.repository)
    config = "" if folder == "." else _settings_path(settings)
    text = starter.gate_workflow(tool, branch=branch, commands=commands, folder=folder, config=config)
    written = _write(settings.repository / starter.WORKFLOW, text, settings.repository)
    yield written
    yield _ignore(settings.cwd / ".gitignore", (*starter.IGNORED, f"/{starter.GATED[tool][1]}"))
    yield "\nNext"
    if not written.startswith(_WRITTEN):
        yield f"  add these steps to a job of {starter.WORKFLOW.as_posix()}:"
        yield from text.partition("fetch-depth: 0\n")[2].splitlines()
    yield f"  check the command that runs {tool}, and name its keys, in {starter.WORKFLOW.as_posix()}"
    yield f"  try it here: {starter.GATED[tool][0]}; runevals gate {starter.GATED[tool][1]}"
    yield "  commit it: the first run on the default branch stores what pull requests are compared with"


def suite_wanted(settings: Settings) -> bool:
    """Offers a starter suite at a terminal → whether it was written."""
    if not at_terminal():
        return False
    say("⚠️  No prompts file found in current directory or ./evals/\n")
    question = "Create a starter evals file with sample prompts? (Y/n)"
    if not click.confirm(question, default=True, show_default=False):
        return False
    say(_starter(settings))
    return True


def _starter(settings: Settings, items: Sequence[Mapping[str, object]] = (), names: Sequence[str] = ()) -> str:
    """`names`: the variables of the prompt."""
    judged = bool(settings.judges) and not settings.no_judge
    text = starter.proposed_suite(items, judged=judged) if items else starter.starter_suite(names, judged=judged)
    return _write(settings.cwd / starter.SUITE, text, settings.cwd)


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
) -> Iterator[str]:
    cwd, is_skill = settings.cwd, prompt.is_skill
    items = [] if suites and not is_skill else proposed_cases(prompt.text, prompt.name)
    if is_skill:
        yield from _skill_files(settings, prompt, [str(item["expected_response"]) for item in items])
    else:
        yield _left(suites[0], cwd) if suites else _starter(settings, items, variables_in(prompt.text))
    program = list(_program(settings, items))
    yield from program
    if is_own:
        return  # what else a project has is above it
    if settings.file_path is not None:
        yield _left(settings.file_path, cwd)
    else:
        names = [relative_name(path, cwd) for path in suites] or [starter.SUITE.as_posix()]
        values = {"suites": None if is_skill or len(names) > 1 else names, **values}  # several are found
        is_starter = any(line.startswith(_WRITTEN) for line in program)
        repeats = settings.target is not None and not settings.target.deterministic
        yield _write(
            cwd / starter.SETTINGS, starter.starter_settings(values, repeats=repeats, is_starter=is_starter), cwd
        )
    yield _ignore(cwd / ".gitignore")


def _skill_suite(settings: Settings, prompt: PromptFile) -> Path:
    return (settings.cwd / prompt.name).parent / "evals" / SKILL_SUITE


def _skill_files(settings: Settings, prompt: PromptFile, statements: Sequence[str]) -> Iterator[str]:
    """The suite of a skill and, if the target may load skills, its trigger queries."""
    suite, target = _skill_suite(settings, prompt), settings.target
    name = skill_of(suite.parent, settings.repository, None).name
    judged = bool(settings.judges) and not settings.no_judge
    yield _write(suite, starter.skill_suite(name, statements, judged=judged), settings.cwd)
    if target is None or target.traits.works_in_folders:
        yield _write(suite.with_name(SKILL_TRIGGERS[0]), starter.trigger_queries(), settings.cwd)


def _program(settings: Settings, items: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """The Python file of a target, if it does not exist yet."""
    target = settings.target
    if not isinstance(target, PythonSettings):
        return
    name, _, function = target.function.rpartition(":")
    path = target.base / name
    usable = function.isidentifier() and not keyword.iskeyword(function)
    if name.endswith(".py") and usable and path.resolve().is_relative_to(settings.cwd.resolve()):
        yield _write(path, starter.starter_program(function, items), settings.cwd)


def _write(path: Path, text: str, base: Path) -> str:
    if path.exists() or path.is_symlink():
        return _left(path, base)
    write_whole(path, text)
    return f"{_WRITTEN}{relative_name(path, base)}: written"


def _left(path: Path, base: Path) -> str:
    return f"– {relative_name(path, base)}: already exists, skipped"


def _ignore(path: Path, names: Sequence[str] = starter.IGNORED) -> str:
    try:
        before = path.read_bytes().decode("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError):
        return f"✗ .gitignore: cannot be read; add {' and '.join(names)} to it"
    after = starter.ignoring(before, names)
    if after == before:
        return _left(path, path.parent)
    write_whole(behind_links(path), after)
    added = ", ".join(after[len(before) :].split())
    return f"✓ .gitignore: {'written' if not before else 'added'} {added}"


def _settings_path(settings: Settings) -> str:
    """The settings file that is there or will be, relative to the repository's root."""
    settings_file = settings.file_path or settings.cwd / starter.SETTINGS
    return relative_name(settings_file.resolve(), settings.repository.resolve())


def _workflow(settings: Settings) -> str:
    display_path = _settings_path(settings)
    usual = display_path == ".github/runevals.yaml"
    return starter.workflow(
        branch=git.default_branch(settings.repository),
        config=starter.SETTINGS.name if usual else display_path,
        variables=_variables(settings),
        installs=_installs(settings),
        folder=_folder(settings),
    )


def _runs_others(settings: Settings) -> bool:
    """Whether the workflow that is there does not run these settings."""
    text = (settings.repository / starter.WORKFLOW).read_text(encoding="utf-8", errors="replace")
    own, there = (re.findall("config: .*", each) for each in (_workflow(settings), text))
    return own != there and "all_projects" not in text


def _folder(settings: Settings) -> str:
    """The folder of the project, relative to the repository's root."""
    return relative_name(settings.cwd.resolve(), settings.repository.resolve())


def _installs(settings: Settings) -> tuple[str, ...]:
    """What a job installs before the run: the agent, or the packages of the program under test."""
    agent, target = _agent(settings.target), settings.target
    if agent is not None:
        return (install(agent),)
    return () if target is None else installs(settings.cwd, target.type)


def _agent(endpoint: object) -> Agent | None:
    """The command line of a coding agent."""
    return endpoint.command_line if isinstance(endpoint, AgentTargetSettings) else None


def _variables(settings: Settings) -> list[str]:
    """The variables that a workflow passes on."""
    names: dict[str, None] = {}
    has = settings.environment.get
    for endpoint in endpoints(settings):
        if (agent := _agent(endpoint)) is not None:
            names |= dict.fromkeys((next(filter(has, agent.keys), agent.keys[0]), *filter(has, agent.places)))
        elif endpoint.is_model:
            provider = PROVIDERS[endpoint.type]
            if provider.needs_key or has(endpoint.api_key_env):
                names[endpoint.api_key_env] = None
            if provider.located_by is not None and (endpoint.base_url or OPENAI_URL) != provider.url:
                names[provider.located_by] = None
    return list(names)


def _next_steps(
    settings: Settings,
    prompt: PromptFile,
    lacking: Sequence[Diagnosis],
    unnamed: str | None,
    *,
    is_new: bool,
    github: bool,
) -> Iterator[str]:
    """`unnamed`: the target, if the settings file was there before and does not have it."""
    yield "\nNext"
    if unnamed not in (None, "skill"):
        yield f"  put into the settings file: target: {unnamed}"
    key = prompt.key(settings.target.type) if settings.target is not None and prompt.name else None
    if key is not None and not is_new and not _names(settings, key, prompt.name):
        yield f"  name the prompt in the settings file: {key.replace('.', ', under it ')}: {prompt.name}"
    yield from (f"  for the {one.name}: {one.fix}" for one in lacking)
    marked = "" if not prompt.name or prompt.is_suite else f", instead of those marked “{PLACEHOLDER}”"
    yield f"  put your own cases into the suite{marked}, then: runevals"
    without_cases = [skill for skill in skill_folders(settings.cwd) if not any(skill_suites(skill))]
    if prompt.is_skill and without_cases:
        name = relative_name(without_cases[0] / SKILL, settings.cwd)
        yield f"  begin the suite of the next skill: runevals init --prompt-file {shlex.quote(name)}"
    yield from (f"  {line}" for line in other_tools(settings.cwd))
    with_base = base_command(settings.repository)
    if with_base is not None:
        what = f"a change{phrase(prompt.name, ' of {}')}"
        yield f"  see what {what} does: {with_base}"
    exists = (settings.repository / starter.WORKFLOW).exists()
    if exists and _runs_others(settings):
        yield f"  in {starter.WORKFLOW.as_posix()}, replace config: by all_projects: true; it runs another project"
    if github:
        yield from _steps_on_github(settings)
    elif not exists:
        yield "  run it on pull requests: runevals init --github"


def _steps_on_github(settings: Settings) -> Iterator[str]:
    variables = _variables(settings)
    secrets = [name for name in variables if starter.is_secret(name)]
    addresses = [name for name in variables if name not in secrets]
    places = {
        "secrets (Settings → Secrets and variables → Actions)": secrets,
        "variables, there too: an address that GitHub's runner reaches": addresses,
    }
    for place, names in places.items():
        if names:
            yield f"  add {' and '.join(names)} to the repository's {place}"
    yield "  commit the files: the first run on the default branch stores what pull requests are compared with"


def _is_named(of_file: Mapping[str, Any], target: str) -> bool:
    """Whether a settings file has this target, maybe with more settings, or several."""
    return "targets" in of_file or target_words(target).items() <= target_words(of_file.get("target", {})).items()


def _names(settings: Settings, key: str, name: str) -> bool:
    """Whether the settings file has this value under a key; one of the target, any that is there."""
    value: Any = settings.file_values
    for part in key.split("."):
        value = value.get(part, ()) if isinstance(value, Mapping) else ()
    return bool(value) if "." in key else name in value


def _asked_target() -> str | None:
    say(_QUESTION)
    match click.prompt("Choose", type=click.Choice(["1", "2", "3", "4", "5"]), default="1", show_choices=False):
        case "1":
            name: str = click.prompt("Model", default=model("openai"))
            return name if name.partition(":")[0] in PROVIDERS else f"openai:{name}"
        case "2":
            return f"command:{click.prompt('Command, such as python my_agent.py')}"
        case "3":
            return f"python:{click.prompt('FILE.py:FUNCTION', default=DEFAULT_FUNCTION)}"
        case "4":
            agent: str = click.prompt("Agent", type=click.Choice(list(AGENTS)), default="claude-code")
            return agent
        case _:
            return None
