"""What settings reach: keys and their hosts, variables, programs, and what agents may use."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from runevals.lib.text.escape import one_line
from runevals.models.http.origin import is_at, origin_of

AUTHORIZATION = "authorization"  # the header of the key of a chat model
IDENTITY = "the job's identity"  # in place of a key: `auth: github`
PROGRAMS = "a program under test"
ANY = "*"  # a header that the workflow leaves open
URL_VARIABLE = "RUNEVALS_TARGET_URL"  # by which the workflow names the address of an agent
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


Servers = Callable[[str], Mapping[str, Any]]  # of a file such as .mcp.json


class Written(Struct, frozen=True):
    """A target or judge as its settings write it, in this environment."""

    values: Mapping[str, Any]
    environment: Mapping[str, str]
    servers_of: Servers

    @property
    def kind(self) -> str:
        """Its type."""
        return str(self.values["type"])

    def has(self, name: str) -> bool:
        """Whether there is such a variable to give away; every job may have an identity."""
        return name == IDENTITY or bool(self.environment.get(name))

    def keys_at(self, place: str, names: Collection[tuple[str, str]]) -> Iterator[Reach]:
        """The variables that are sent to this address, each with its header; without any, the bare host."""
        place = plain(place)
        sent = [Reach("key", name, place, header) for name, header in sorted(names) if self.has(name)]
        yield from sent or [Reach("host", "", place)]

    def variables(self, place: str = PROGRAMS) -> Iterator[Reach]:
        """The variables of `env`."""
        yield from (Reach("variable", name, place) for name in self.values["env"] if self.has(name))

    def servers(self) -> Iterator[tuple[object, Mapping[str, Any]]]:
        """The MCP servers, with name or number."""
        written = self.values["mcp"]
        servers = self.servers_of(written) if isinstance(written, str) else written
        yield from enumerate(servers) if isinstance(servers, list) else servers.items()


Rule = Callable[[Written], Iterator[Reach]]


def nothing(_: Written) -> Iterator[Reach]:
    """Reaches nothing: data, a file that is read only inside the repository, or a field that this kind has not."""
    return iter(())


def program_of(written: Written) -> Iterator[Reach]:
    """What is started."""
    command = written.values.get("command")
    words = [command] if isinstance(command, str) else [shlex.join(command)] if command else []
    words += [str(written.values[name]) for name in ("interpreter", "function") if name in written.values]
    if words:
        yield Reach("program", " ".join(words))


# Every setting of a target and a judge → what it reaches; each kind says which of its settings reach more.
OF_ALL: Mapping[str, Rule] = {
    **dict.fromkeys(
        (
            *("url", "base_url", "headers", "api_key_env", "auth", "command", "function", "interpreter"),
            *("plugin", "options", "tools", "args", "mcp", "type"),
            *("model", "api", "parameters", "timeout_s", "deterministic", "votes", "method", "body", "pick"),
            *("system_prompt", "system_prompt_file", "prompt_file", "path", "reuse", "cwd"),
            *("skills", "skills_dir", "output", "trace"),
        ),
        nothing,
    ),
    "env": Written.variables,
}


def rules(*names: str, of: Rule, **more: Rule) -> Mapping[str, Rule]:
    """The rules of a kind: settings that reach the same, and more by name."""
    return {**OF_ALL, **dict.fromkeys(names, of), **more}


def plain(url: str) -> str:
    """Origin and path, without a query, which may hold a secret. Raises ValueError for an invalid address."""
    if not url.lower().startswith(("http://", "https://")):
        raise ValueError(url)
    return f"{origin_of(url)}{urlsplit(url).path}"


def canonical(value: object) -> str:
    """A text that is the same for equal values."""
    return json.dumps(value, sort_keys=True)
