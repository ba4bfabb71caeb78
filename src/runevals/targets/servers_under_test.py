"""The MCP servers that a chat model calls: what is under test are their tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runevals.lib.parsing.shapes import object_in
from runevals.lib.parsing.source import path_inside, read_text
from runevals.records.errors import InvalidSettings

if TYPE_CHECKING:
    from runevals.programs.mcp_servers import Server

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def servers_under_test(
    source: str | Sequence[Mapping[str, Any]] | Mapping[str, Any], base: Path, repository: Path
) -> tuple[Server, ...]:
    """The servers of `target.mcp` with the variables that it declares. Raises InvalidSettings."""
    servers = servers_by_name(source, base, repository) if isinstance(source, str | Mapping) else _numbered(source)
    return tuple(_server(name, server, base) for name, server in servers.items())


def servers_by_name(
    source: str | Mapping[str, Any], base: Path, repository: Path
) -> Mapping[str, Mapping[str, object]]:
    """The MCP servers of a file such as `.mcp.json`, or those given by name. Raises InvalidSettings."""
    if isinstance(source, str):
        path = path_inside(repository, source, base=base, what="target.mcp")
        try:
            document = json.loads(read_text(path, source))
        except (ValueError, RecursionError) as error:
            raise InvalidSettings(f"target.mcp: {source} is not JSON: {error}") from None
        servers = object_in(document).get("mcpServers")
        if not isinstance(servers, dict):
            raise InvalidSettings(f"target.mcp: {source} has no `mcpServers`")
        source = servers
    for name, server in source.items():
        if not isinstance(server, dict) or not ({"command", "url"} & server.keys()):
            raise InvalidSettings(f"target.mcp: the server {name} has neither `command` nor `url`")
    return source


def _numbered(source: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    by_name = {str(server.get("name", f"server{number}")): server for number, server in enumerate(source, start=1)}
    if len(by_name) < len(source):
        raise InvalidSettings("target.mcp: two servers have one name; give each its own `name`")
    return by_name


def _server(name: str, server: Mapping[str, Any], base: Path) -> Server:
    from runevals.programs.mcp_servers import HttpServer, StdioServer

    if "url" in server:
        return HttpServer(name=name, url=_address(name, server), headers=_texts(name, server, "headers"))
    command, args = server.get("command"), server.get("args", [])
    if not isinstance(command, str) or not command:
        raise InvalidSettings(f"target.mcp: {name} needs a `command`, or a `url`")
    if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        raise InvalidSettings(f"target.mcp: {name}.args must be a list of texts")
    return StdioServer(name=name, command=command, args=tuple(args), env=_texts(name, server, "env"), cwd=base)


def _address(name: str, server: Mapping[str, Any]) -> str:
    url = server["url"]
    if server.get("type") == "sse" or not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise InvalidSettings(
            f"target.mcp: {name}.url must be an http or https address (streamable HTTP, not sse)"
        )
    return url


def _texts(name: str, server: Mapping[str, Any], what: str) -> dict[str, str]:
    """The variables or headers that a server declares."""
    texts = server.get(what, {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise InvalidSettings(f"target.mcp: {name}.{what} must have a text for each name")
    return {key: _value(f"{name}.{what}.{key}", text) for key, text in texts.items()}


def _value(place: str, text: str) -> str:
    """The text of a variable or header; `${NAME:-default}` is its default, as nothing of the job is passed on."""
    before, bracket, rest = text.rpartition("}")  # in the rest, a search for the end of each would be quadratic
    for match in _VARIABLE.finditer(before + bracket):
        if match[2] is None:
            raise InvalidSettings(
                f"target.mcp: {place} names {match[0]}, but a server under test gets no variable of "
                f"the job; write its value, or ${{{match[1]}:-value}}"
            )
    return _VARIABLE.sub(lambda match: match[2], before + bracket) + rest
