"""MCP servers: each is started for its first address, called for many, and stopped at the end.

The SDK is asynchronous; its event loop runs in a separate thread in this module.
"""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from runevals.lib import programs
from runevals.lib.text.escape import one_line
from runevals.lib.text.secrets import redactor
from runevals.suites.urls.fetch import MOST_BYTES, TIMEOUT_S, NotFetched
from runevals.suites.urls.mcp_config import McpServer, extract_text
from runevals.suites.urls.mcp_environment import server_environment

if TYPE_CHECKING:
    from anyio import Event
    from anyio.from_thread import BlockingPortal
    from mcp import Client
    from mcp_types import CallToolResult

_MOST_STDERR = 300  # of a server's stderr, for the message of its failure

# (expression, text) → the whole match and its groups, None if nothing matches. Raises NotFetched.
Groups = Callable[[str, str], Sequence[str | None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContext:
    """The working folder of servers, their variables, and the timeouts of starts and calls."""

    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    timeout_s: float = TIMEOUT_S


class McpServers:
    """Servers that are started on demand. A context manager: all of them are stopped with it."""

    def __init__(self, context: ServerContext, groups: Groups) -> None:
        self._context, self._groups = context, groups
        self._lock = threading.Lock()
        self._running: dict[str, _Running] = {}
        self._loop: _Loop | None = None
        self._exits = ExitStack()
        self._closed = False

    def __enter__(self) -> McpServers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True  # an abandoned thread must not start another server
        self._exits.close()

    def fetch(self, server: McpServer, url: str) -> str:
        """The text behind an address that `server` reads. Raises NotFetched, naming the server."""
        try:
            return self._fetch(server, url)
        except NotFetched as error:
            raise NotFetched(f"the MCP server {one_line(server.name)} {error}") from None

    def _fetch(self, server: McpServer, url: str) -> str:
        groups: Sequence[str | None] | None = ()
        if server.transform is not None:
            groups = self._groups(server.transform.regex, url)
        if groups is None:
            raise NotFetched("reads it, but its urlTransform.regex does not match it")
        text = _text(self._start(server).call(server.arguments(url, groups)))
        if server.extract is None:
            return text
        extract = extract_text(text, server.extract)
        if extract is None:
            raise NotFetched(f"answers without {one_line(server.extract)} (contentExtract): {one_line(text)}")
        return extract

    def _start(self, server: McpServer) -> _Running:
        with self._lock:
            if self._closed:
                raise NotFetched("was stopped, because the run has ended")
            if self._loop is None:
                self._loop = self._exits.enter_context(_event_loop())
            if server.name not in self._running:
                log = self._loop.logs / str(len(self._running))
                self._running[server.name] = _Running(server, self._context, self._loop, log)
            return self._running[server.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    """The thread of the SDK: what runs coroutines in it, what ends all servers, where these write their stderr."""

    portal: BlockingPortal
    stop: Event
    logs: Path


@contextmanager
def _event_loop() -> Iterator[_Loop]:
    try:
        import anyio
        import mcp  # noqa: F401 - loaded before a clock runs
        from anyio.from_thread import start_blocking_portal
    except ImportError:
        raise NotFetched("needs the MCP client, which is not installed: pip install 'runevals[mcp]'") from None
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # otherwise it would write to stderr of runevals
    with tempfile.TemporaryDirectory(prefix="runevals-mcp-") as logs, start_blocking_portal() as portal:
        stop, exits = anyio.Event(), ExitStack()
        try:
            portal.call(exits.enter_context, programs.as_program())  # of its thread, which starts the servers
            yield _Loop(portal=portal, stop=stop, logs=Path(logs))
        finally:
            portal.call(stop.set)
            portal.call(exits.close)


class _Running:
    """One server, from its start on."""

    def __init__(self, server: McpServer, context: ServerContext, loop: _Loop, log: Path) -> None:
        self._server, self._context, self._loop, self._log = server, context, loop, log
        self._ready: Future[Client] = Future()
        self._served = loop.portal.start_task_soon(self._serve, log.open("w", encoding="utf-8"))
        self._served.add_done_callback(lambda _: self._ready.cancel())

    def call(self, arguments: Mapping[str, object]) -> CallToolResult:
        """What its tool answers. Raises NotFetched."""
        client = self._client()
        answer: Future[CallToolResult] = self._loop.portal.start_task_soon(
            client.call_tool, self._server.tool, dict(arguments)
        )
        try:
            return answer.result(self._context.timeout_s)
        except TimeoutError:
            answer.cancel()
            raise NotFetched(f"took longer than {self._context.timeout_s:g} s{self._last_words()}") from None
        except (Exception, CancelledError) as error:  # noqa: BLE001 - of whatever kind, it is this address's
            message = f"cannot call {one_line(self._server.tool)}: {_reason(error)}"
            raise NotFetched(message + self._last_words()) from None

    def _client(self) -> Client:
        try:
            return self._ready.result(self._context.timeout_s)
        except TimeoutError:
            self._served.cancel()
        except CancelledError:  # it ended before it was ready
            pass
        if self._served.cancelled():
            raise NotFetched(f"was not ready within {self._context.timeout_s:g} s{self._last_words()}")
        raise NotFetched(f"cannot be started: {_reason(self._served.exception())}{self._last_words()}")

    async def _serve(self, log: TextIO) -> None:
        from mcp import Client, StdioServerParameters, stdio_client

        server = self._server
        program = StdioServerParameters(
            command=server.command,
            args=list(server.args),
            env=programs.environment(server_environment(server.env, self._context.env)),
            cwd=self._context.cwd,
            encoding_error_handler="replace",
        )
        with log:
            async with Client(stdio_client(program, log)) as client:
                self._ready.set_result(client)
                await self._loop.stop.wait()

    def _last_words(self) -> str:
        """The end of what the server wrote to stderr, for a message."""
        with self._log.open("rb") as log:
            log.seek(max(0, self._log.stat().st_size - 16 * _MOST_STDERR))  # wide, lest a secret be cut in half
            words = log.read().decode("utf-8", "replace")
        words = redactor({**self._context.env, **self._server.env})(words).strip()
        return f"; it last wrote: {one_line(words[-_MOST_STDERR:], _MOST_STDERR)}" if words else ""


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


def _reason(error: BaseException | None) -> str:
    """In words, the first of a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return one_line(str(error)) or type(error).__name__
