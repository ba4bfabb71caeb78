"""The SDK's asynchronous client behind plain calls. Imported only where an a2a target is used."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any, TypeVar

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import Client
from a2a.types.a2a_pb2 import (
    AgentCard,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    Task,
    TaskState,
)
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import A2AError
from google.protobuf.json_format import Error as NoProtocol
from google.protobuf.json_format import MessageToDict

from runevals.records import Citation
from runevals.targets.command import MAX_OUTPUT_BYTES
from runevals.targets.json_endpoint import SHOWN, beginning
from runevals.targets.reported import citations, shallow
from runevals.throttle import CallFailed, TryAgain, failure_of_status
from runevals.web_settings import WebSettings, origin_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """What an agent has said so far. A plain message is `completed`."""

    state: str
    text: str
    value: object = None  # the JSON value behind `text`, of an answer that is nothing else
    citations: tuple[Citation, ...] | None = None
    context_id: str | None = None
    task_id: str | None = None


class AgentClient:
    """One agent, shared by all threads. What it does runs in one event loop, in a thread of its own."""

    def __init__(self, web: WebSettings, headers: Mapping[str, str], timeout_s: float) -> None:
        self._web = web
        self._headers = dict(headers)
        self._timeout_s = timeout_s
        self._loop = _LoopThread()
        self._http: _BoundedClient | None = None
        self._client: Client | None = None
        self.card: Mapping[str, object] = {}

    def read_card(self) -> None:
        """Learns who the agent is and how it is reached. Raises CallFailed, TryAgain."""
        self._loop.run(self._read_card())

    def send(self, text: str, message_id: str, *, context_id: str | None, task_id: str | None) -> AgentReply:
        """One message of the user. Raises CallFailed, TryAgain."""
        parts = [Part(text=text)]
        message = Message(
            message_id=message_id, role=Role.ROLE_USER, parts=parts, context_id=context_id, task_id=task_id
        )
        return self._loop.run(self._send(SendMessageRequest(message=message)))

    def task(self, task_id: str) -> AgentReply:
        """How far a task is. Raises CallFailed, TryAgain."""
        return self._loop.run(self._task(GetTaskRequest(id=task_id)))

    def close(self) -> None:
        """Ends what is under way."""
        self._loop.close(self._disconnected)

    async def _disconnected(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def _read_card(self) -> None:
        if self._http is None:
            self._http = _BoundedClient(self._web, self._headers, self._timeout_s)
        card: AgentCard = await _understood(A2ACardResolver(self._http, self._web.url).get_agent_card())
        bindings: list[str] = [TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON]
        config = ClientConfig(streaming=False, httpx_client=self._http, supported_protocol_bindings=bindings)
        try:
            self._client = ClientFactory(config).create(card)
        except ValueError as error:
            raise CallFailed("failed", f"the agent cannot be reached by JSON-RPC or HTTP+JSON: {error}") from error
        self.card = {"agent": card.name, "version": card.version}

    async def _send(self, request: SendMessageRequest) -> AgentReply:
        assert self._client is not None  # noqa: S101 - the card is read first

        async def one() -> AgentReply:
            assert self._client is not None  # noqa: S101 - as above
            async for reply in self._client.send_message(request):
                return _of_task(reply.task) if reply.HasField("task") else _of_message(reply.message)
            raise CallFailed("unparseable", "the agent replied with nothing")

        return await _understood(one())

    async def _task(self, request: GetTaskRequest) -> AgentReply:
        assert self._client is not None  # noqa: S101 - the card is read first
        return _of_task(await _understood(self._client.get_task(request)))


async def _understood(call: Coroutine[Any, Any, T]) -> T:
    """What a call of the SDK gives. Raises CallFailed for what is said against the protocol."""
    try:
        return await call
    except A2AError as error:
        broken = isinstance(error.__cause__, json.JSONDecodeError | NoProtocol)
        raise CallFailed("unparseable" if broken else "failed", str(error)[:SHOWN]) from error
    except (NoProtocol, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise CallFailed("unparseable", f"the reply cannot be read: {error!r}"[:SHOWN]) from error


def _of_message(message: Message) -> AgentReply:
    return _reply("completed", [message], context_id=message.context_id, task_id=None)


def _of_task(task: Task) -> AgentReply:
    """A task's answer is in its artifacts; without any, in what its status or its last message says."""
    state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
    said = [message for message in task.history if message.role == Role.ROLE_AGENT][-1:]
    sources: tuple[list[Any], ...] = ([*task.artifacts], [task.status.message], said)
    if state not in ("completed", "submitted", "working"):
        sources = sources[1:2]  # what it ends with, or asks for, not what it had made by then
    spoken = next((source for source in sources if any(each.parts for each in source)), [])
    return _reply(state, spoken, context_id=task.context_id, task_id=task.id)


def _reply(state: str, sources: Iterable[Any], *, context_id: str, task_id: str | None) -> AgentReply:
    """What messages or artifacts say. Raises CallFailed for what cannot be held."""
    parts = [part for source in sources for part in source.parts]
    text = "\n".join(part.text for part in parts if part.WhichOneof("content") == "text")
    values = [MessageToDict(part.data) for part in parts if part.WhichOneof("content") == "data"]
    value = None if text or not values else values[0] if len(values) == 1 else values
    try:
        value = _plain(shallow(value, "the answer"))
        return AgentReply(
            state=state,
            text=json.dumps(value, ensure_ascii=False) if value is not None else text,
            value=value,
            citations=_citations(sources, parts),
            context_id=context_id or None,
            task_id=task_id,
        )
    except ValueError as error:
        raise CallFailed("unparseable", str(error)) from error


def _plain(value: object) -> object:
    """What came through the protocol's own types as JSON has it: whole numbers, keys in one order."""
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _citations(sources: Iterable[Any], parts: Iterable[Any]) -> tuple[Citation, ...] | None:
    """Sources that stand beside the text: `citations` in the metadata, and files by their address."""
    found: list[Citation] = []
    for source in sources:
        found += citations(MessageToDict(source.metadata).get("citations")) or ()
    found += [
        Citation(text=part.filename, source=part.url) for part in parts if part.WhichOneof("content") == "url"
    ]
    return tuple(found) or None


class _BoundedClient(httpx.AsyncClient):
    """Sends keys to their own host only, reads so much and so long only, and tells what may pass from what not."""

    def __init__(self, web: WebSettings, headers: Mapping[str, str], timeout_s: float) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        super().__init__(timeout=timeout_s, limits=limits, headers={"User-Agent": "runevals"})
        self.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # cases know nothing of each other
        self._web = web
        self._sent_headers = dict(headers)
        self._timeout_s = timeout_s

    async def send(self, request: httpx.Request, **_: Any) -> httpx.Response:
        """Raises CallFailed, TryAgain."""
        origin = origin_of(str(request.url))
        if self._web.key_names and origin != self._web.origin:
            message = (
                f"its card leads to {origin}, and the key is for {self._web.origin}; name that address instead"
            )
            raise CallFailed("failed", message, refused=True)
        request.headers.update(self._sent_headers)
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await super().send(request, stream=True, follow_redirects=False)
                content = await _content(reply)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise TryAgain("timeout", f"no answer within {self._timeout_s:g} s") from error
        except httpx.TransportError as error:
            raise TryAgain("failed", f"connection failed: {type(error).__name__}: {error}"[:SHOWN]) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise CallFailed("failed", f"the request cannot be sent: {error}"[:SHOWN]) from error
        if reply.status_code >= 300:
            raise failure_of_status(reply.status_code, beginning(content), reply.headers.get("retry-after"))
        kind = {"content-type": reply.headers.get("content-type", "")}
        return httpx.Response(reply.status_code, headers=kind, content=content, request=request)


async def _content(reply: httpx.Response) -> bytes:
    content = bytearray()
    try:
        async for chunk in reply.aiter_bytes():
            content += chunk
            if len(content) > MAX_OUTPUT_BYTES:
                raise CallFailed("unparseable", f"the answer is larger than {MAX_OUTPUT_BYTES // 1024**2} MiB")
    finally:
        await reply.aclose()
    return bytes(content)


class _LoopThread:
    """An event loop in a thread; other threads wait for what they have run in it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="a2a")
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` gives. Raises what it raises, CallFailed where the loop is closed."""
        with self._lock:
            if self._closed:
                work.close()
                raise CallFailed("failed", "the run has ended")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise CallFailed("failed", "the run has ended") from None

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Cancels what is under way, so that nobody waits for it, and runs `last`."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._cancelled(last), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _cancelled(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await last()
