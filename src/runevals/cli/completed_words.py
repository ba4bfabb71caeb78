"""The words that a shell completes: the cases, tags, evaluators and targets that there are here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runevals.records.errors import RunevalsError

if TYPE_CHECKING:
    from runevals.records import Case
    from runevals.settings.resolve import Settings

Words = Callable[[], Iterable[str]]


def completing(words: Words) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """For click: the words that begin so; none if what has them cannot be read."""

    def beginning(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        with suppress(RunevalsError, OSError):
            return [word for word in dict.fromkeys(words()) if word.startswith(begun) and word.isprintable()]
        return []

    return beginning


def of_setting(name: str, choices: Iterable[str]) -> Words:
    """The words of a setting: its choices, or what there is here of its kind."""
    return WORDS.get(name, lambda: choices)


def _settings() -> Settings:
    from runevals.settings.dotenv import environment
    from runevals.settings.resolve import RawSettings, resolve

    cwd = Path.cwd()
    return resolve(RawSettings(cwd=cwd, environment=environment(cwd, None, os.environ)))


def _cases() -> Iterable[Case]:
    from runevals.run.load import suites_of

    return suites_of(_settings()).cases


def evaluators() -> Iterable[str]:
    """The names of all evaluators."""
    from runevals.evaluators import catalogue

    return catalogue.names()


def _targets() -> Iterable[str]:
    from runevals.targets.kinds import KINDS, kind_of

    known = (*(name if kind_of(name).alone else f"{name}:" for name in KINDS), "https:")
    with suppress(RunevalsError):
        return (*_settings().file_values.get("targets", ()), *known)
    return known


WORDS: Mapping[str, Words] = {
    "filter": lambda: [case.key for case in _cases()],
    "tag": lambda: [tag for case in _cases() for tag in case.tags],
    "category": lambda: [case.category for case in _cases() if case.category],
    "evaluators": evaluators,
    "target": _targets,
}
