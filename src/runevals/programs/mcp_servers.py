"""MCP servers, as child processes or at an address: each is started when it is first used, and left at the end.

The SDK is asynchronous; its event loop runs in a separate thread in this module.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase
from runevals.models.http.network import async_client
from runevals.models.http.origin import without_credentials
from runevals.programs.mcp_stdio import ServerProcess
from runevals.records.quiet import Quiet

if TYPE_CHECKING:
    from anyio import Event
    from anyio.from_thread import BlockingPortal
    from mcp import Client
    from mcp_types import CallToolResult, Tool

T = TypeVar("T")

_MOST_STDERR = 300  # of a server's stderr, for the message of its failure
MOST_TOOLS = 1000  # of a server
MOST_OF_TOOLS = 16 * 1024 * 1024  # bytes of all of them


class ServerFailed(Exception):
    """A server cannot be started, or does not answer, and why."""


class NotInstalled(ServerFailed):
    """The SDK is missing."""


class StdioServer(Quiet, frozen=True, kw_only=True):
    """A program that speaks MCP over its stdin and stdout; `env` is its whole environment."""

    hidden = frozenset({"env"})

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: Path

    @property
    def place(self) -> list[str]:
        """What is started."""
        return [self.command, *self.args]

    @property
    def secrets(self) -> Mapping[str, str]:
        """What may be secret of it."""
        return self.env


class HttpServer(Quiet, frozen=True, kw_only=True):
    """A server that speaks MCP at an address, by streamable HTTP."""

    hidden = frozenset({"headers"})

    name: str
    url: str
    headers: Mapping[str, str] = {}

    @property
    def place(self) -> list[str]:
        """What is called."""
        return [without_credentials(self.url)]

    @property
    def secrets(self) -> Mapping[str, str]:
        """What may be secret of it."""
        return self.headers


Server = StdioServer | HttpServer


class RunningServers:
    """Servers that are started, or connected to, on demand; called from several threads at once."""

    def __init__(self, *, timeout_s: float) -> None:
        """`timeout_s` is for a start, and for a call."""
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._running: dict[str, RunningServer] = {}
        self._loop: _Loop | None = None
        self._exits = ExitStack()
        self._closed = False

    def start(self, server: Server, redact: Callable[[str], str]) -> RunningServer:
        """The server of this name, running; `redact` removes secrets from what it wrote. Raises ServerFailed."""
        with self._lock:
            if self._closed:
                raise ServerFailed("was stopped, because the run has ended")
            if self._loop is None:
                self._loop = self._exits.enter_context(_event_loop())
            if server.name not in self._running:
                self._running[server.name] = RunningServer(
                    server, self._loop, timeout_s=self._timeout_s, redact=redact
                )
            return self._running[server.name]

    def close(self) -> None:
        """Stops all of them."""
        with self._lock:
            self._closed = True  # an abandoned thread must not start another server
        self._exits.close()


class _Loop(Struct, frozen=True, kw_only=True):
    """The thread of the SDK: what runs coroutines in it, and what ends all servers."""

    portal: BlockingPortal
    stop: Event


@contextmanager
def _event_loop() -> Iterator[_Loop]:
    try:
        import anyio
        import mcp  # noqa: F401 - loaded before a clock runs
        from anyio.from_thread import start_blocking_portal
    except ImportError:
        raise NotInstalled("needs the MCP client, which is not installed: pip install 'runevals[mcp]'") from None
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # otherwise it would write to stderr of runevals
    with start_blocking_portal() as portal:
        stop = anyio.Event()
        try:
            yield _Loop(portal=portal, stop=stop)
        finally:
            portal.call(stop.set)


class RunningServer:
    """One server, from its start on."""

    def __init__(self, server: Server, loop: _Loop, *, timeout_s: float, redact: Callable[[str], str]) -> None:
        self._server, self._loop = server, loop
        self._timeout_s, self._redact = timeout_s, redact
        self._process: ServerProcess | None = None
        self._ready: Future[Client] = Future()
        self._served = loop.portal.start_task_soon(self._serve)
        self._served.add_done_callback(lambda _: self._ready.cancel())

    def call(self, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
        """What a tool answers. Raises ServerFailed."""
        client = self._client()
        return self._result(partial(client.call_tool, tool, dict(arguments)), f"cannot call {one_line(tool)}")

    def tools(self) -> list[Tool]:
        """The tools that it declares. Raises ServerFailed."""
        return self._result(partial(self._all_tools, self._client()), "cannot list its tools")

    @staticmethod
    async def _all_tools(client: Client) -> list[Tool]:
        tools: list[Tool] = []
        cursor: str | None = None
        size = 0
        while len(tools) <= MOST_TOOLS:
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            size += len(page.model_dump_json())
            if size > MOST_OF_TOOLS:
                raise ServerFailed(f"describes its tools in more than {MOST_OF_TOOLS // 1024**2} MiB")
            cursor = page.next_cursor
            if cursor is None:
                return tools
        raise ServerFailed(f"has more than {MOST_TOOLS} tools")

    def _result(self, work: Callable[[], Awaitable[T]], what: str) -> T:
        answer: Future[T] = self._loop.portal.start_task_soon(work)
        try:
            return answer.result(self._timeout_s)
        except TimeoutError:
            answer.cancel()
            raise ServerFailed(f"took longer than {self._timeout_s:g} s{self._last_words()}") from None
        except (Exception, CancelledError) as error:  # noqa: BLE001 - of whatever kind, it is this server's
            raise ServerFailed(f"{what}: {self._reason(error)}{self._last_words()}") from None

    def _client(self) -> Client:
        try:
            return self._ready.result(self._timeout_s)
        except TimeoutError:
            self._served.cancel()
        except CancelledError:  # it ended before it was ready
            pass
        if self._served.cancelled():
            raise ServerFailed(f"was not ready within {self._timeout_s:g} s{self._last_words()}")
        verb = "started" if isinstance(self._server, StdioServer) else "reached"
        raise ServerFailed(f"cannot be {verb}: {self._reason(self._served.exception())}{self._last_words()}")

    async def _serve(self) -> None:
        from mcp import Client

        async with Client(self._streams()) as client:
            self._ready.set_result(client)
            await self._loop.stop.wait()

    def _streams(self) -> AbstractAsyncContextManager[Any]:
        """Its messages, as a transport of the SDK."""
        server = self._server
        if isinstance(server, HttpServer):
            return _at_address(server)
        self._process = ServerProcess(server.place, env=server.env, cwd=server.cwd, portal=self._loop.portal)
        return self._process.streams()

    def _reason(self, error: BaseException | None) -> str:
        return self._redact((self._process and self._process.failure) or _reason(error))

    def _last_words(self) -> str:
        """The end of what the server wrote to stderr, for a message."""
        stderr = b"" if self._process is None else self._process.stderr
        words = self._redact(stderr.decode("utf-8", "replace")).strip()  # all of it, lest a secret be cut in half
        return phrase(one_line(words[-_MOST_STDERR:], _MOST_STDERR), "; it last wrote: {}")


@asynccontextmanager
async def _at_address(server: HttpServer) -> AsyncIterator[Any]:
    from mcp.client.streamable_http import streamable_http_client

    async with (
        async_client(server.headers) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


def _reason(error: BaseException | None) -> str:
    """In words, the first of a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return one_line(str(error)) or type(error).__name__
