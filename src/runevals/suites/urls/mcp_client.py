"""MCP servers that read addresses: each is started for its first address, and called for many."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from runevals.lib.text.escape import one_line
from runevals.lib.text.secrets import redactor
from runevals.programs.mcp_servers import RunningServers, ServerFailed, StdioServer
from runevals.records.quiet import Quiet
from runevals.suites.urls.fetch import MOST_BYTES, TIMEOUT_S, NotFetched
from runevals.suites.urls.mcp_config import McpServer, extract_text

if TYPE_CHECKING:
    from mcp_types import CallToolResult

# (expression, text) → the whole match and its groups, None if nothing matches. Raises NotFetched.
Groups = Callable[[str, str], Sequence[str | None] | None]

# Variables for programs, files, certificates, proxies and the language.
NEEDED = frozenset({
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "PYTHONPATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ",
    "USER", "APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT",
    "USERPROFILE", "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE",
})  # fmt: skip
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class ServerContext(Quiet, frozen=True, kw_only=True):
    """The working folder of servers, their variables, and the timeouts of starts and calls."""

    hidden = frozenset({"env"})

    cwd: Path
    env: Mapping[str, str]
    timeout_s: float = TIMEOUT_S


class McpServers(AbstractContextManager["McpServers"]):
    """Servers that are started on demand. A context manager: all of them are stopped with it."""

    def __init__(self, context: ServerContext, groups: Groups) -> None:
        self._context, self._groups = context, groups
        self._servers = RunningServers(timeout_s=context.timeout_s)

    def __exit__(self, *_: object) -> None:
        self._servers.close()

    def fetch(self, server: McpServer, url: str) -> str:
        """The text behind an address that `server` reads. Raises NotFetched, naming the server."""
        try:
            return self._fetch(server, url)
        except NotFetched as error:
            raise NotFetched(f"the MCP server {one_line(server.name)} {error}") from None

    def _fetch(self, server: McpServer, url: str) -> str:
        tool = server.fetch_tool
        groups = () if tool.url_transform is None else self._groups(tool.url_transform.regex, url)
        if groups is None:
            raise NotFetched("reads it, but its urlTransform.regex does not match it")
        text, place = _text(self._call(server, tool.arguments(url, groups))), tool.content_extract
        extract = text if place is None else extract_text(text, place)
        if extract is None:
            raise NotFetched(f"answers without {one_line(place or '')} (contentExtract): {one_line(text)}")
        return extract

    def _call(self, server: McpServer, arguments: Mapping[str, object]) -> CallToolResult:
        try:
            env = server_environment(server.env, self._context.env)
        except NotFetched as error:
            raise NotFetched(f"cannot be started: {error}") from None
        program = StdioServer(
            name=server.name, command=server.command, args=server.args, env=env, cwd=self._context.cwd
        )
        redact = redactor({**self._context.env, **program.env})
        try:
            return self._servers.start(program, redact).call(server.fetch_tool.name, arguments)
        except ServerFailed as error:
            raise NotFetched(str(error)) from None


def _text(result: CallToolResult) -> str:
    """The answer of a tool, if it is text within the size limit. Raises NotFetched."""
    text = "\n".join(part.text for part in result.content if part.type == "text")
    kind = next((part.type for part in result.content if part.type != "text"), None)
    if result.is_error:
        raise NotFetched(f"says: {one_line(text)}")
    if kind is not None or not result.content:
        raise NotFetched(f"answers with {'nothing' if kind is None else f'content of type {kind}'}, not with text")
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise NotFetched(f"answers with more than {MOST_BYTES // 1024**2} MiB")
    return text


def server_environment(declared: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server. `${NAME}` and `${NAME:-default}` in its configuration are variables.

    Raises NotFetched for one that is not set and has no default.
    """

    def value(match: re.Match[str]) -> str:
        value_ = environment.get(match[1], match[2])
        if value_ is None:
            raise NotFetched(f"needs ${{{match[1]}}}, which is not set")
        return value_

    needed = {name: text for name, text in environment.items() if name.upper() in NEEDED or name.startswith("LC_")}
    return {**needed, **{name: _VARIABLE.sub(value, text) for name, text in declared.items()}}
