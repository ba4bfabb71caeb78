"""`.mcp.json`: the MCP servers that a project names, and which of them reads an address."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.parsing.json_forms import text_or_json
from runevals.lib.parsing.shapes import object_in
from runevals.lib.parsing.source import parse_source
from runevals.records.errors import InvalidSuite
from runevals.records.quiet import Quiet

FILENAME = ".mcp.json"
_KEYS = ("mcpServers", "servers")
_OF_THE_TOOL = {"urlParam", "urlTransform", "contentExtract"}


class UrlTransform(Struct, frozen=True, kw_only=True):
    """Maps an address to parameters: `$1` to `$9` are the groups of `regex`."""

    regex: str
    params: Mapping[str, object]


class FetchTool(Struct, frozen=True, kw_only=True, rename="camel"):
    """The tool that reads an address, what it is given, and where the text is in an answer that is JSON."""

    name: str
    url_param: str = "url"
    url_transform: UrlTransform | None = None
    content_extract: str | None = None

    def arguments(self, url: str, groups: Sequence[str | None]) -> dict[str, object]:
        """Its arguments; `groups` are those of the transform's expression, the whole match at 0."""
        if self.url_transform is None:
            return {self.url_param: url}
        values = dict(enumerate(groups))

        def fill(text: str) -> str:
            return re.sub(r"\$([1-9])", lambda match: values.get(int(match[1])) or "", text)

        params = self.url_transform.params.items()
        return {name: fill(value) if isinstance(value, str) else value for name, value in params}


class McpServer(Quiet, frozen=True, kw_only=True, rename="camel"):
    """A program that reads addresses containing one of `url_patterns`."""

    hidden = frozenset({"env"})

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url_patterns: tuple[str, ...]
    fetch_tool: FetchTool


def claiming(servers: Iterable[McpServer], url: str) -> McpServer | None:
    """The first server that reads this address; None if there is none."""
    return next((server for server in servers if any(text in url for text in server.url_patterns)), None)


def read_servers(content: bytes, suffix: str, display_path: str) -> tuple[McpServer, ...]:
    """The servers with `urlPatterns`, in order. Raises InvalidSuite with every problem of theirs."""
    source = parse_source(content, suffix, display_path)
    entries = _fetching_ones(source.value)
    problems = replace(source, value=entries).schema_problems("runevals.suites.urls", "mcp-1")
    problems = problems or [
        source.problem((key, name, word), f"{word} belongs into fetchTool", key=True)
        for key, servers in entries.items()
        for name, server in servers.items()
        for word in server.keys() & _OF_THE_TOOL
    ]
    if problems:
        raise InvalidSuite(problems)
    by_name = [each for servers in entries.values() for each in servers.items()]
    return tuple(convert({**server, "name": name}, McpServer) for name, server in by_name)


def _fetching_ones(document: Any) -> Any:
    """The document with only those servers in it that are for addresses: the others are other programs' affair."""
    if not isinstance(document, dict):
        return document
    key = next((key for key in _KEYS if key in document), None)
    if key is None:
        return {}
    servers = document[key]
    if not isinstance(servers, dict):
        return {key: servers}
    return {key: {name: server for name, server in servers.items() if "urlPatterns" in object_in(server)}}


def extract_text(text: str, path: str) -> str | None:
    """The value at a dotted path of a JSON text, as JSON if it is not text; None if it is absent."""
    try:
        value = json.loads(text)
        for step in path.split("."):
            value = value[int(step)] if isinstance(value, list) else value[step]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return if_known(text_or_json, value)
