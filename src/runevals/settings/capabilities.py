"""What settings reach, as one ledger: keys and their hosts, variables, programs, and what agents may use.

In CI a change reaches what its base's settings and the workflow name. What its own name beyond that gets no key.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from runevals.lib.text.escape import one_line
from runevals.lib.text.secret_variables import JOB_TOKENS
from runevals.models.chat.providers import PROVIDERS, address
from runevals.models.http.origin import is_at, origin_of
from runevals.records.agent import AGENT_KEYS, AGENTS, HARMLESS_OPTIONS, MCP
from runevals.records.errors import InvalidSettings
from runevals.repository import git
from runevals.settings.agent import options_of, servers_by_name
from runevals.settings.target import JUDGE_URL, judge_words, target_words
from runevals.settings.web_target import URL_VARIABLE

API_KEY_ENV = "RUNEVALS_API_KEY_ENV"  # more names of variables, separated by commas; only the workflow sets it
AUTHORIZATION = "authorization"  # the header of the key of a chat model
IDENTITY = "the job's identity"  # in place of a key: `auth: github`
PROGRAMS = "a program under test"
ANY = "*"  # a header that the workflow leaves open
Kind = Literal["key", "host", "variable", "program", "agent", "option", "tool", "server", "plugin"]
_SAYS: Mapping[Kind, str] = {
    "key": "sends {name} to {place} in the header {detail}",
    "host": "asks {place}",
    "variable": "gives {name} to {place}",
    "program": "starts `{name}`",
    "agent": "starts {name} with its key",
    "option": "gives {place}, which has a key, the option {name}",
    "tool": "lets {place}, which has a key, use {name}",
    "server": "lets {place}, which has a key, use this MCP server {name}",
    "plugin": "loads the plugin {name} with these options",
}
_BARE = ("host", "program")  # without a key and a variable they may be the change's own
_NAMED_BY = {  # the variable by which a workflow names the address
    **dict.fromkeys(("target.url", "target.headers"), URL_VARIABLE),
    "target.base_url": "OPENAI_BASE_URL",
    "judge.base_url": JUDGE_URL,
}
_THE_JOBS = ("INPUT_", "ACTIONS_")
_NAME = re.compile(r"[A-Za-z_]\w{0,254}", re.ASCII)


class Reach(Struct, frozen=True):
    """One thing that settings reach: `name` at, or for, a `place`."""

    kind: Kind
    name: str
    place: str = ""  # an address, an agent or a program
    detail: str = ""  # a header; what is behind the name

    def __str__(self) -> str:
        return _SAYS[self.kind].format(name=one_line(self.name, 200), place=self.place, detail=self.detail)

    def is_in(self, granted: Mapping[Reach, str]) -> bool:
        """Whether it is granted: itself, or the same below the path of an address."""
        if self.kind not in ("key", "host"):
            return self in granted
        return any(
            (one.kind, one.name) == (self.kind, self.name)
            and one.detail in (ANY, self.detail)
            and is_at(self.place, one.place)
            for one in granted
        )


Ledger = dict[Reach, str]  # → the setting that reaches it
Servers = Callable[[str], Mapping[str, Any]]  # of a file such as .mcp.json


class _Section(Struct, frozen=True):
    """A target or judge as its settings write it, in this environment."""

    values: Mapping[str, Any]
    environment: Mapping[str, str]
    servers: Servers

    @property
    def kind(self) -> str:
        return str(self.values["type"])

    def has(self, name: str) -> bool:
        """Whether there is such a variable to give away; every job may have an identity."""
        return name == IDENTITY or bool(self.environment.get(name))

    @property
    def is_agent_with_key(self) -> bool:
        """An agent without any variable of the job is as bare as a program."""
        return self.kind in AGENTS and any(map(self.has, (*AGENT_KEYS[self.kind], *self.values.get("env", ()))))


def _keys(section: _Section) -> Iterator[Reach]:
    values = section.values
    if section.kind in ("http", "a2a"):
        place = section.environment.get(URL_VARIABLE) or values.get("url", "")
        headers = values.get("headers", {}).items()
        names = {(value["env"], name.lower()) for name, value in headers if isinstance(value, Mapping)}
        names |= {(values["api_key_env"], AUTHORIZATION)} if "api_key_env" in values else set()
    elif section.kind in PROVIDERS:
        place = values.get("base_url") or address(section.kind, section.environment, values.get("model"))
        key = IDENTITY if "auth" in values else values.get("api_key_env", PROVIDERS[section.kind].key)
        names = {(key, AUTHORIZATION)}
    else:
        return
    place = _plain(place)
    sent = [Reach("key", name, place, header) for name, header in sorted(names) if section.has(name)]
    yield from sent or [Reach("host", "", place)]


def _program(section: _Section) -> Iterator[Reach]:
    command = section.values.get("command")
    words = [command] if isinstance(command, str) else [shlex.join(command)] if command else []
    words += [str(section.values[name]) for name in ("interpreter", "function") if name in section.values]
    if words:
        yield Reach("program", " ".join(words))


def _plugin(section: _Section) -> Iterator[Reach]:
    yield Reach("plugin", str(section.values.get("plugin")), "", _canonical(section.values.get("options", {})))


def _by_type(section: _Section) -> Iterator[Reach]:
    """An agent with its key; the provider's own address."""
    if section.is_agent_with_key:
        yield Reach("agent", section.kind)
    yield from _keys(section)


def _variables(section: _Section) -> Iterator[Reach]:
    place = section.kind if section.kind in AGENTS else PROGRAMS
    yield from (Reach("variable", name, place) for name in section.values["env"] if section.has(name))


def _tools(section: _Section) -> Iterator[Reach]:
    if section.is_agent_with_key:
        yield from (Reach("tool", str(tool), section.kind) for tool in section.values["tools"])


def _options(section: _Section) -> Iterator[Reach]:
    if section.is_agent_with_key:
        for option in options_of(section.values["args"]):
            if option.value is None or option.name not in HARMLESS_OPTIONS[section.kind]:
                yield Reach("option", str(option), section.kind)


def _servers(section: _Section) -> Iterator[Reach]:
    """Those that an agent may use have its environment; those under test are bare programs."""
    written = section.values["mcp"]
    servers = section.servers(written) if isinstance(written, str) else written
    numbered = enumerate(servers) if isinstance(servers, list) else servers.items()
    for name, server in numbered:
        if section.kind not in AGENTS and "url" in server:
            yield Reach("host", "", _plain(str(server["url"])))
        elif section.kind not in AGENTS:
            words = [server.get("command", ""), *server.get("args", ())]
            yield Reach("program", shlex.join(map(str, words)))
        elif section.is_agent_with_key and f"{MCP}{name}" in section.values.get("tools", ()):
            yield Reach("server", str(name), section.kind, _canonical(server))


def _nothing(_: _Section) -> Iterator[Reach]:
    """It is data, or a file that is read only inside the repository."""
    return iter(())


# Every setting of a target and a judge → what it reaches. One without a rule stops every run.
RULES: Mapping[str, Callable[[_Section], Iterator[Reach]]] = {
    **dict.fromkeys(("url", "base_url", "headers", "api_key_env", "auth"), _keys),
    **dict.fromkeys(("command", "function", "interpreter"), _program),
    **dict.fromkeys(("plugin", "options"), _plugin),
    "env": _variables,
    "tools": _tools,
    "args": _options,
    "mcp": _servers,
    "type": _by_type,
    **dict.fromkeys(
        (
            *("model", "api", "parameters", "timeout_s", "deterministic", "votes", "method", "body", "pick"),
            *("system_prompt", "system_prompt_file", "prompt_file", "path", "reuse", "cwd"),
            *("skills", "skills_dir", "output", "trace"),
        ),
        _nothing,
    ),
}


def capabilities(values: Mapping[str, Any], environment: Mapping[str, str], servers: Servers) -> Ledger:
    """What the values of a settings file reach, each with the setting that names it; a pure function."""
    ledger: dict[Reach, str] = {}
    for what, written in _sections(values, environment):
        section = _Section(written, environment, servers)
        for name, rule in RULES.items():
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
        yield "target", target_words(target) if isinstance(target, str) else target
    for judge in judges if isinstance(judges, list) else [judges] if judges else []:
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
            ledger |= {Reach("key", name, _plain(place), header): "the workflow" for name in (*own, *names)}
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
    names_here = section.get("env") if isinstance(section, Mapping) else None
    if granted is None:
        return None if names_here is None else tuple(names_here)
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
        path = os.path.relpath(base / name, repository).replace(os.sep, "/")
        content = git.file_at(repository, commit or "", path)
        with suppress(ValueError, RecursionError):
            servers = json.loads(content or b"{}")["mcpServers"]
            return servers if isinstance(servers, dict) else {}
        return {}

    return at_commit if commit else lambda name: servers_by_name(name, base, repository)


def _plain(url: str) -> str:
    """Origin and path, without a query, which may hold a secret. Raises ValueError for an invalid address."""
    if not url.lower().startswith(("http://", "https://")):
        raise ValueError(url)
    return f"{origin_of(url)}{urlsplit(url).path}"


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)
