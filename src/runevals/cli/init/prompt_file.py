"""The prompt file of a new project: likely ones, the question, the setting that names it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.source import path_inside, read_text
from runevals.lib.terminal import say
from runevals.lib.text.escape import one_line
from runevals.lib.text.variables import VARIABLE
from runevals.models.chat.providers import PROVIDERS
from runevals.records.agent import AGENTS
from runevals.run.baseline.dependencies import texts_of_program
from runevals.run.project_folders import folders_in
from runevals.settings.resolve import Settings
from runevals.settings.target import moved
from runevals.settings.words import target_words
from runevals.suites.dialects.prompt_yml import SUFFIXES
from runevals.suites.skill_suites import SKILL, skill_folders

MOST = 8  # files in the question
AGENTS_FILE = "AGENTS.md"
_OF_OTHERS = re.compile(r"(^|/)(readme\.|node_modules/)", re.IGNORECASE)
_TEXTS = (".md", ".txt")
_PLACES = (
    *(f"{folder}*{suffix}" for folder in ("", "prompts/", ".github/prompts/") for suffix in SUFFIXES),
    *(f"{folder}*{suffix}" for folder in ("prompts/", "*/prompts/", "*prompt") for suffix in _TEXTS),
)
_SENDING = frozenset({*PROVIDERS, "command", "python"})  # the targets that get a prompt of the settings


class PromptFile(Struct, frozen=True):
    """A prompt to test, its name relative to the settings file; the name is empty if there is none."""

    name: str = ""
    text: str = ""
    readers: tuple[str, ...] = ()  # the files of the target's program that have its name in them

    @property
    def is_suite(self) -> bool:
        """Whether it has its own cases."""
        return self.name.endswith(SUFFIXES)

    @property
    def is_skill(self) -> bool:
        """Whether agents find it as a skill, which its cases are beside."""
        return PurePosixPath(self.name).name == SKILL

    def key(self, target: Mapping[str, Any]) -> str | None:
        """The setting that names it. None if none must.

        A coding agent is given the skills of the suites, a program may read it, one that is not known yet either.
        """
        if self.is_suite:
            return "suites"
        if not self.name or target.get("type") not in _SENDING or self.readers:
            return None
        return "target.prompt_file" if VARIABLE.search(self.text) else "target.system_prompt_file"

    def read_by(self, settings: Settings) -> PromptFile:
        """With the files of the program that these settings start which read it by themselves."""
        name, texts = PurePosixPath(self.name).name, texts_of_program(settings)
        readers = [os.path.relpath(path, settings.cwd) for path, text in texts if name and name in text]
        return replace(self, readers=tuple(readers))

    def settings(self, target: str | None) -> Mapping[str, Any]:
        """The settings with this file, by name."""
        section = target_words(target or {})
        if self.is_skill and section.get("type") in AGENTS:
            return {"target": {**section, "tools": ["shell", "read", "write"]}}
        match self.key(section):
            case None:
                return {}
            case "suites":
                return {"suites": [self.name]}
            case key:
                return {"target": {**section, key.removeprefix("target."): self.name}}


def target_beside(settings: Settings, prompt: PromptFile) -> Mapping[str, Any] | None:
    """The target of the settings file, if it sends another prompt, as it would be in settings beside this one."""
    section, path = target_words(settings.file_values.get("target", {})), (settings.cwd / prompt.name).resolve()
    key, base = str(prompt.key(section)).removeprefix("target."), settings.file_base.resolve()
    if key not in section or (base / section[key]).resolve() == path:
        return None
    return {**moved(section, os.path.relpath(base, path.parent)), key: path.name}


def likely(folder: Path) -> list[str]:
    """The names of files that are probably prompts, at most `MOST`."""
    prompts = (path for place in _PLACES for path in sorted(folder.glob(place)))
    skills = (skill / SKILL for skill in skill_folders(folder))
    files = (path for path in (*prompts, *skills, folder / AGENTS_FILE) if path.is_file())
    names = dict.fromkeys(path.relative_to(folder).as_posix() for path in files)
    return [name for name in names if not _OF_OTHERS.search(name)][:MOST]


def first_prompt(settings: Settings) -> PromptFile:
    """The first prompt or skill of no other project; with settings, which may send a prompt, none for them.

    Raises as `prompt_file`.
    """
    others = (*SUFFIXES, *([SKILL] if settings.file_path else _TEXTS))
    return prompt_file(settings, next(_likely_here(settings, others), None), asks=False)


def only_prompt(settings: Settings) -> PromptFile:
    """The prompt that the suites here test, if there is one alone. Raises as `prompt_file`."""
    first, *others = (*_likely_here(settings, _TEXTS), None)
    return prompt_file(settings, None if others[1:] else first, asks=False)


def _likely_here(settings: Settings, ends: tuple[str, ...]) -> Iterator[str]:
    projects = tuple(f"{folder}/" for folder in folders_in(settings.cwd))
    names = (name for name in likely(settings.cwd) if name.endswith(ends) and name != AGENTS_FILE)
    return (name for name in names if not name.startswith(projects))


def prompt_file(settings: Settings, name: str | None, *, asks: bool) -> PromptFile:
    """The named file, or the answer of a question. Raises InvalidSettings or UsageError for an unusable one."""
    name = name or (_answer(settings.cwd) if asks else None)
    if name is None:
        return PromptFile()
    path = path_inside(settings.repository, name, base=settings.cwd, what="--prompt-file")
    cwd = settings.cwd.resolve()
    display_path = path.relative_to(cwd).as_posix() if path.is_relative_to(cwd) else name
    return PromptFile(display_path, read_text(path, display_path))


def _answer(folder: Path) -> str | None:
    files = likely(folder)
    if not files:
        return (
            click.prompt("Which file holds the prompt to test? (empty: none)", default="", show_default=False)
            or None
        )
    say("Which file holds the prompt to test?")
    for number, name in enumerate((*files, "another file", "none"), start=1):
        say(f"  {number}  {one_line(name, 100)}")
    numbers = [str(number) for number in range(1, len(files) + 3)]
    index = int(click.prompt("Choose", type=click.Choice(numbers), default="1", show_choices=False)) - 1
    if index == len(files):
        return click.prompt("File") or None
    return dict(enumerate(files)).get(index)
