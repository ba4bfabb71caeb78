"""What settings reach, as one ledger: keys and their hosts, variables, programs, and what agents may use.

In CI a change reaches what its base's settings and the workflow name. What its own name beyond that gets no key.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from runevals.lib.nullable import if_known
from runevals.lib.parsing.shapes import entries_of, object_in
from runevals.lib.storage.files import path_from
from runevals.lib.text.escape import one_line
from runevals.lib.text.secret_variables import API_KEY_ENV, JOB_TOKENS
from runevals.models.chat.providers import PROVIDERS, address
from runevals.records.errors import InvalidSettings
from runevals.repository import git
from runevals.settings.judge import JUDGE_URL
from runevals.settings.words import judge_words, target_words
from runevals.targets.kinds import kind_of
from runevals.targets.reach import (
    ANY,
    AUTHORIZATION,
    IDENTITY,
    PROGRAMS,
    URL_VARIABLE,
    Reach,
    Servers,
    Written,
    plain,
)

_BARE = ("host", "program")  # without a key and a variable they may be the change's own
_NAMED_BY = {  # the variable by which a workflow names the address
    **dict.fromkeys(("target.url", "target.headers"), URL_VARIABLE),
    "target.base_url": "OPENAI_BASE_URL",
    "judge.base_url": JUDGE_URL,
}
_THE_JOBS = ("INPUT_", "ACTIONS_")
_NAME = re.compile(r"[A-Za-z_]\w{0,254}", re.ASCII)
Ledger = dict[Reach, str]  # → the setting that reaches it


def capabilities(values: Mapping[str, Any], environment: Mapping[str, str], servers: Servers) -> Ledger:
    """What the values of a settings file reach, each with the setting that names it; a pure function."""
    ledger: dict[Reach, str] = {}
    for what, written in _sections(values, environment):
        section = Written(written, environment, servers)
        for name, rule in kind_of(section.kind).reaches.items():
            if name in written:
                with suppress(ValueError, InvalidSettings):  # nothing is sent to an invalid address
                    for reach in rule(section):
                        ledger.setdefault(reach, f"{what}.{name}")
    for name in ("base_setup", "rerun"):
        if values.get(name):
            ledger[Reach("program", shlex.join(values[name]))] = name
    return ledger


def _sections(
    values: Mapping[str, Any], environment: Mapping[str, str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The target and the judges, none written as one text."""
    target, judges = values.get("target"), values.get("judge")
    azure = environment.get("AZURE_AI_OPENAI_ENDPOINT")
    if target:
        yield "target", target_words(target)
    for judge in entries_of(judges or []):
        section = judge_words(judge) if isinstance(judge, str) else judge
        yield "judge", {"type": "azure" if azure and "base_url" not in section else "openai", **section}


def of_workflow(environment: Mapping[str, str], what: str) -> Ledger:
    """What the workflow grants the target or judge: each provider's key at its address, and what it names."""
    names = environment.get(API_KEY_ENV, "").replace(",", " ").split()
    places: list[tuple[str, str, tuple[str, ...]]] = []  # (address, header, variables)
    for name, provider in PROVIDERS.items():
        for model in (None, "anthropic."):  # Bedrock has another address for Claude
            with suppress(InvalidSettings):
                places.append((address(name, environment, model), AUTHORIZATION, (provider.key, IDENTITY)))
    if what == "judge" and environment.get(JUDGE_URL):
        own = (IDENTITY, *(provider.key for provider in PROVIDERS.values()))
        places.append((environment[JUDGE_URL], AUTHORIZATION, own))
    if environment.get(URL_VARIABLE):
        places.append((environment[URL_VARIABLE], ANY, ()))
    ledger: dict[Reach, str] = {}
    for place, header, own in places:
        with suppress(ValueError):
            where = plain(place)
            ledger |= {Reach("key", name, where, header): "the workflow" for name in (*own, *names)}
    return ledger | {Reach("variable", name, PROGRAMS): "the workflow" for name in names}


def beyond(reached: Ledger, granted: Ledger) -> Ledger:
    """What is reached and not granted."""
    return {reach: setting for reach, setting in reached.items() if not reach.is_in(granted)}


def require_granted(reached: Ledger, of_base: Ledger, environment: Mapping[str, str]) -> None:
    """Raises InvalidSettings for what a change must not reach, and cannot reach without a key.

    `of_base`: what the settings reach that decide over the change.
    """
    for reach, setting in reached.items():
        granted = {**of_base, **of_workflow(environment, setting.partition(".")[0])}
        bare = reach.kind in _BARE or reach.place == PROGRAMS
        if not bare and not reach.is_in(granted):
            raise InvalidSettings(
                f"{setting} stands in the settings file, which a pull request may change, and {reach}; the base "
                f"branch's settings do not: merge that line first{_or_workflow(reach, setting, environment)}"
            )


def _or_workflow(reach: Reach, setting: str, environment: Mapping[str, str]) -> str:
    """What the workflow can say instead."""
    what, words = setting.partition(".")[0], dict[str, str]()
    if reach.kind == "key" and setting in _NAMED_BY:
        words[_NAMED_BY[setting]] = reach.place
    if reach.kind == "key" and not reach.is_in(of_workflow({**environment, **words}, what)):
        words[API_KEY_ENV] = reach.name
    text = ", ".join(f"{variable}={value}" for variable, value in words.items())
    helps = text and reach.is_in(of_workflow({**environment, **words}, what))
    return f", or name it in the workflow: {text}" if helps else ""


def program_variables(section: object, granted: Ledger | None) -> tuple[str, ...] | None:
    """The variables that a program under test is given beside the harmless ones; None: all that are not the job's.

    They are those that `env` of the target names. `granted` is what a change may reach; None: this is no change.
    """
    names_here = object_in(section).get("env")
    if granted is None:
        return if_known(tuple, names_here)
    names = [reach.name for reach in granted if (reach.kind, reach.place) == ("variable", PROGRAMS)]
    return tuple(name for name in names if names_here is None or name in names_here)


def require_names(values: Mapping[str, Any]) -> None:
    """Raises InvalidSettings for a variable that no target or judge gets, and for what is no name of one.

    `init --github` writes them into a workflow.
    """
    for what, section in _sections(values, {}):
        headers = [value["env"] for value in section.get("headers", {}).values() if isinstance(value, Mapping)]
        key = [section["api_key_env"]] if "api_key_env" in section else []
        by_setting = {"api_key_env": key, "headers": headers, "env": section.get("env", ())}
        for setting, name in ((setting, name) for setting, names in by_setting.items() for name in names):
            if not _NAME.fullmatch(name):
                raise InvalidSettings(f"{what}.{setting}: {one_line(name, 60)!r} is not the name of a variable")
            if name in JOB_TOKENS or name.startswith(_THE_JOBS):
                raise InvalidSettings(
                    f"{what}.{setting}: {name} is the job's own token, which no target or judge gets"
                )


def servers_at(repository: Path, base: Path, commit: str | None = None) -> Servers:
    """Reads a file of MCP servers that settings in `base` name: of the checkout, or of a commit."""

    def at_commit(name: str) -> Mapping[str, Any]:
        content = git.file_at(repository, commit or "", path_from(base / name, repository))
        with suppress(ValueError, RecursionError):
            return object_in(object_in(json.loads(content or b"{}")).get("mcpServers"))
        return {}

    def here(name: str) -> Mapping[str, Mapping[str, object]]:
        from runevals.targets.servers_under_test import servers_by_name

        return servers_by_name(name, base, repository)

    return at_commit if commit else here
