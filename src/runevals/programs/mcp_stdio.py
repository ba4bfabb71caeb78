"""The pipes of one MCP server, within limits: the reader of the SDK has none for the length of a line."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from runevals.programs.processes import environment, kill_group, start_program

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

    Sender = MemoryObjectSendStream[SessionMessage | Exception]
    Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

MOST_BYTES = 10 * 1024 * 1024  # of a message
MOST_REQUESTS = 100  # of the server, until it reads the answers: each is a task of the SDK
STDERR_BYTES = 16 * 1024
END_TIMEOUT_S = 2.0  # after the end of its input, and after SIGTERM


class ServerProcess:
    """A process. `failure`: why its output is no longer read. `stderr`: the end of what it wrote there."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path, portal: BlockingPortal
    ) -> None:
        """Starts it. Raises OSError, ValueError."""
        from mcp.client.stdio import get_default_environment

        self.failure, self.stderr = "", b""
        self._portal = portal
        self._requests = self._answers = 0  # of the server, and to it
        self._outbox: queue.SimpleQueue[SessionMessage | None] = queue.SimpleQueue()
        self._process = start_program(command, env={**get_default_environment(), **environment(env)}, cwd=cwd)
        self._stderr_reader = Thread(target=self._read_stderr, daemon=True)

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """Its messages, as a transport of the SDK. The process ends with it."""
        import anyio

        send, from_server = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
        to_server, receive = anyio.create_memory_object_stream["SessionMessage"](0)
        self._stderr_reader.start()
        Thread(target=self._read, args=(send,), daemon=True).start()
        Thread(target=self._write, daemon=True).start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._forward, receive)
            try:
                async with send, from_server, to_server:
                    yield from_server, to_server
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self._end)

    async def _forward(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with messages:
            async for message in messages:
                self._outbox.put(message)

    def _write(self) -> None:
        """In a thread of its own: a server need not read."""
        from mcp_types import JSONRPCError, JSONRPCResponse

        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe
        with suppress(OSError), self._process.stdin as pipe:
            while (item := self._outbox.get()) is not None:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                pipe.write(text.encode("utf-8", "replace") + b"\n")
                pipe.flush()
                self._answers += isinstance(item.message, JSONRPCResponse | JSONRPCError)

    def _read(self, send: Sender) -> None:
        import anyio

        assert self._process.stdout is not None  # noqa: S101 - opened as a pipe
        gone = (anyio.BrokenResourceError, anyio.ClosedResourceError, CancelledError, RuntimeError, OSError)
        with suppress(*gone), self._process.stdout as pipe:
            while line := pipe.readline(MOST_BYTES + 1):
                if len(line) > MOST_BYTES:
                    self.failure = f"sent a message of more than {MOST_BYTES // 1024**2} MiB"
                    break
                self._portal.call(send.send, self._parse(line))
                if self._requests - self._answers > MOST_REQUESTS:
                    self.failure = f"sent more than {MOST_REQUESTS} requests and did not read the answers"
                    break
            else:
                self._stderr_reader.join(END_TIMEOUT_S)  # for the message about its end
        with suppress(*gone):
            self._portal.call(send.aclose)

    def _parse(self, line: bytes) -> SessionMessage | Exception:
        from mcp.shared.message import SessionMessage
        from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

        try:
            message = jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
        except ValueError as error:
            return error
        self._requests += isinstance(message, JSONRPCRequest)
        return SessionMessage(message)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - opened as a pipe
        with suppress(OSError), self._process.stderr as pipe:
            while chunk := os.read(pipe.fileno(), 65536):
                self.stderr = (self.stderr + chunk)[-STDERR_BYTES:]

    def _end(self) -> None:
        self._outbox.put(None)
        if not self._ended():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGTERM)
            self._ended()
        kill_group(self._process)

    def _ended(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_TIMEOUT_S)
        return self._process.returncode is not None
