"""The tools of MCP servers under test, as a chat model calls them."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.shapes import object_in
from runevals.lib.text.escape import one_line
from runevals.lib.text.secrets import redactor
from runevals.programs.mcp_servers import NotInstalled, RunningServer, RunningServers, Server, ServerFailed
from runevals.records import ToolCall
from runevals.records.errors import InvalidSettings, TargetRefused
from runevals.targets.program_report import shallow

if TYPE_CHECKING:
    from mcp_types import CallToolResult

MOST_CHARACTERS = 1024 * 1024  # of a result
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class ServerTool(Struct, frozen=True, kw_only=True):
    """A tool: `name` as the model sees it, `own_name` as its server declares it."""

    name: str
    own_name: str
    server: str
    description: str = ""
    schema: Mapping[str, object] = {}

    @property
    def declaration(self) -> dict[str, Any]:
        """The tool in the form of chat completions."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.schema)}
        return {"type": "function", "function": function}


class McpTools:
    """Servers that are started with the first use of a tool, once for a run, and called from several threads."""

    def __init__(self, servers: Sequence[Server], *, timeout_s: float) -> None:
        """`timeout_s` is for a start, and for a call."""
        self._servers = {server.name: server for server in servers}
        self._running = RunningServers(timeout_s=timeout_s)
        self._lock = threading.Lock()
        self._tools: dict[str, ServerTool] = {}

    @property
    def tools(self) -> Mapping[str, ServerTool]:
        """The tools of all servers by name. Raises TargetRefused, and InvalidSettings without the SDK."""
        with self._lock:
            if not self._tools:
                self._tools = self._declared_tools()
            return self._tools

    @property
    def identity(self) -> list[object]:
        """What is started or called."""
        return [[server.name, *server.place] for server in self._servers.values()]

    def call(self, name: str, arguments: object) -> ToolCall:
        """The call of one of the tools with its result. Raises ServerFailed, naming the server."""
        tool = self.tools[name]
        began = time.monotonic()
        try:
            result = self._start(self._servers[tool.server]).call(tool.own_name, object_in(arguments))
            output = _text(result)
        except ServerFailed as error:
            raise ServerFailed(f"the MCP server {one_line(tool.server)} {error}") from None
        return ToolCall(
            name=name,
            input=shallow(arguments, "the input of a tool call"),
            output=output,
            ok=not result.is_error,
            duration_s=time.monotonic() - began,
        )

    def close(self) -> None:
        """Stops the servers."""
        self._running.close()

    def _start(self, server: Server) -> RunningServer:
        return self._running.start(server, redactor(server.secrets))

    def _declared_tools(self) -> dict[str, ServerTool]:
        every: list[ServerTool] = []
        for server in self._servers.values():
            try:
                declared = self._start(server).tools()
            except NotInstalled as error:
                raise InvalidSettings(f"target.mcp {error}") from None
            except ServerFailed as error:
                raise TargetRefused(f"the MCP server {one_line(server.name)} {error}") from None
            every += [
                ServerTool(
                    name=tool.name,
                    own_name=tool.name,
                    server=server.name,
                    description=tool.description or "",
                    schema=tool.input_schema,
                )
                for tool in declared
            ]
        return tools_by_name(every)


def tools_by_name(tools: Sequence[ServerTool]) -> dict[str, ServerTool]:
    """Tools by name; those of one name have their server's before it. Raises TargetRefused."""
    names = [tool.own_name for tool in tools]
    by_name: dict[str, ServerTool] = {}
    for tool in tools:
        whole = tool.own_name if names.count(tool.own_name) == 1 else f"{tool.server}__{tool.own_name}"
        name = _NOT_IN_A_NAME.sub("_", whole)[:64]
        if name in by_name:
            raise TargetRefused(f"the MCP servers have two tools of the name {name}")
        by_name[name] = replace(tool, name=name)
    return by_name


def _text(result: CallToolResult) -> str:
    """What a model is shown of a result. Raises ServerFailed if it is too long."""
    parts = [part.text if part.type == "text" else f"[{part.type}]" for part in result.content]
    structured = result.structured_content
    text = "\n".join(parts) if parts or structured is None else json.dumps(structured, ensure_ascii=False)
    if len(text) > MOST_CHARACTERS:
        raise ServerFailed(f"answers with more than {MOST_CHARACTERS} characters")
    return text
