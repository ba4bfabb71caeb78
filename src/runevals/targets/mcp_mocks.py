"""MCP servers of ours on loopback: they offer the tools of a case's mocks to an agent, and answer by them."""

from __future__ import annotations

import logging
import re
import secrets
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from runevals.lib.parsing.canonical import canonical
from runevals.programs.loopback import LoopbackServer
from runevals.records import Problem, Response, ToolCall
from runevals.records.errors import InvalidSettings
from runevals.targets.mocks import Mocks

if TYPE_CHECKING:
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult
    from starlette.applications import Starlette

PLAIN = "mocks"  # the server of a tool whose name says none
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")  # agents separate names by commas, too


class Offer:
    """The mocks of one turn as tools of servers: `mcp__docs__find` is the tool `find` of the server `docs`."""

    def __init__(self, mocks: Mocks, address: str = "") -> None:
        """`address`: where the servers are."""
        self.mocks, self.address = mocks, address
        self._mocked = {_place(tool): tool for tool in mocks.tools}  # (server, tool) → as the mocks name it
        self._unused = {server for server, _ in self._mocked}  # they were not asked for their tools

    @property
    def servers(self) -> Mapping[str, Mapping[str, object]]:
        """What an agent's settings say of each server."""
        return {server: {"type": "http", "url": f"{self.address}/{server}"} for server, _ in self._mocked}

    def tools(self, name_of: str) -> Mapping[str, str]:
        """The tools by the names that an agent gives them, which writes them like `name_of`."""
        return {name_of.format(*place): tool for place, tool in self._mocked.items()}

    def with_answers(self, response: Response, name_of: str) -> Response:
        """An agent's response: calls of mocks have their names and answers; a problem if it has no such tools."""
        if not self.mocks.declared:
            return response
        names, answers = self.tools(name_of), defaultdict[str, deque[ToolCall]](deque)
        for call in self.mocks.calls:
            answers[canonical([call.name, call.input])].append(call)
        calls = []
        for call in response.tool_calls or ():
            name = names.get(call.name, call.name)
            ours = answers[canonical([name, call.input or {}])] if call.name in names else ()
            calls.append(replace(ours.popleft(), duration_s=call.duration_s) if ours else replace(call, name=name))
        calls += [call for unreported in answers.values() for call in unreported]
        message = f"the agent did not ask for the tools of the mocks: {', '.join(sorted(self._unused))}"
        problem = Problem(code="target_failed", message=message) if self._unused else None
        return replace(response, tool_calls=tuple(calls), problem=response.problem or problem)

    def app(self, path: str) -> Starlette:
        """The servers below a path, by streamable HTTP. Raises ImportError."""
        from mcp.server.lowlevel import Server

        logging.getLogger("mcp").addHandler(logging.NullHandler())  # otherwise it would write to our stderr
        server: Server = Server(PLAIN, on_list_tools=self._list, on_call_tool=self._call)
        return server.streamable_http_app(
            streamable_http_path=f"{path}/{{server}}", stateless_http=True, json_response=True
        )

    async def _list(self, context: Any, _: object) -> ListToolsResult:
        from mcp_types import ListToolsResult, Tool, ToolAnnotations

        server = context.request.path_params["server"]
        self._unused.discard(server)
        harmless = ToolAnnotations(read_only_hint=True)  # otherwise an agent may ask whether it may call it
        return ListToolsResult(
            tools=[
                Tool(name=name, input_schema={"type": "object"}, annotations=harmless)
                for its_server, name in self._mocked
                if its_server == server
            ]
        )

    async def _call(self, context: Any, params: CallToolRequestParams) -> CallToolResult:
        from mcp_types import CallToolResult, TextContent

        name = self._mocked.get((context.request.path_params["server"], params.name), params.name)
        call = self.mocks.program_calls(name, params.arguments or {})
        return CallToolResult(content=[TextContent(type="text", text=call.output or "")], is_error=not call.ok)


def _place(tool: str) -> tuple[str, str]:
    """(server, tool) of a tool that is mocked."""
    name = _NOT_IN_A_NAME.sub("_", tool)
    server, _, own_name = name.removeprefix("mcp__").partition("__")
    return (server, own_name) if name.startswith("mcp__") and server and own_name else (PLAIN, name)


@contextmanager
def offering(mocks: Mocks) -> Iterator[Offer]:
    """The tools of the mocks, served until the end of the context. Raises InvalidSettings, OSError."""
    offer = Offer(mocks)
    if not mocks.tools:
        yield offer
        return
    path = f"/{secrets.token_hex(16)}"
    try:
        server = LoopbackServer(offer.app(path))
    except ImportError:
        raise InvalidSettings("mocks of an agent need the MCP SDK: pip install 'runevals[mcp]'") from None
    offer.address = f"{server.address}{path}"
    with closing(server):
        yield offer
